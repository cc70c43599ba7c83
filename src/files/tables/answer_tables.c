/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises tables of answers, from gibbsite or from other programs, by their column names. If
 * such tables were read as rows of cases or draws, the results would be meaningless. */
#include <stdio.h>
#include <string.h>

#include "tables/sheet.h"

typedef struct kind {
    const char *begins; /* start of the line of names, without quotes */
    const char *holds;  /* text that the line of names must contain, or NULL */
    bool whole;         /* whether the line of names ends where `begins` ends */
    bool draws;         /* whether `gibbsite diagnose` reads such a table */
    const char *what;
    const char *reader; /* hint for the message: the program that reads such a table, or "" */
} kind;

static const kind kinds[] = {
    {"variable,state,probability", NULL, false, false, "marginals",
     "; gibbsite compare reads marginals"},
    {"variable,state", NULL, true, false, "states of variables",
     "; gibbsite compare reads such states"},
    {"variable,mean,", ",sd", false, false, "a summary of draws", ""},
    {"name,mean,sd,", NULL, false, false, "a diagnosis of draws", ""},
    {"case,", "=", false, false, "marginals of cases", ""},
    {"", ",probability,mcse", false, false, "a joint table",
     "; gibbsite compare reads joint tables"},
    {"chain,draw,", NULL, false, true, "draws", "; gibbsite diagnose reads draws"},
    {".chain,", NULL, false, true, "draws", "; gibbsite diagnose reads draws"},
};

static bool is_kind(const kind *k, const char *line)
{
    const size_t n = strlen(k->begins);
    return strncmp(line, k->begins, n) == 0 && (!k->whole || line[n] == '\0') &&
           (k->holds == NULL || strstr(line, k->holds) != NULL);
}

gbs_status gbsi_refuse_answers(const gbsi_text *text, bool draws, const char *expected,
                               gbs_error *err)
{
    enum { LOOK = 4096 };
    char line[LOOK + 1];
    size_t n = 0;
    gbsi_token first = gbsi_text_at(text, text->begin);
    while (first.n > 0 && *first.at == '#') { /* skip comments */
        const char *end = memchr(first.at, '\n', (size_t)(text->end - first.at));
        first = gbsi_text_at(text, end == NULL ? text->end : end);
    }
    const char *at = first.at;
    for (; at < text->end && *at != '\n' && *at != '\r' && n < LOOK; at++) {
        if (*at != '"' && (n > 0 || *at != ',')) { /* the column of an index has no name */
            line[n++] = *at;
        }
    }
    line[n] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (is_kind(&kinds[i], line) && !(draws && kinds[i].draws)) {
            return gbsi_text_fail(text, (gbsi_token){first.at, 1}, err, "found %s, expected %s%s",
                                  kinds[i].what, expected, kinds[i].reader);
        }
    }
    return GBS_OK;
}
