/* SPDX-License-Identifier: Apache-2.0 */
/* Options and verbs that are planned but not in this version: messages say that they are
 * planned, instead of calling them unknown. */
#include <string.h>

#include "arguments.h"

static const struct {
    const char *option; /* NULL if the words are verbs; "" if the words are options; else the option
                           whose values are the words */
    const char *words;  /* words, each with a blank before and after it */
} later[] = {
    {"", " trace anytime "
         "marginals-only "},
    {"format", " zarr "},
};

int cli_is_later(const char *option, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; n > 0 && i < sizeof later / sizeof later[0]; i++) {
        if ((option == NULL) != (later[i].option == NULL) ||
            (option != NULL && strcmp(option, later[i].option) != 0)) {
            continue;
        }
        for (const char *at = later[i].words; (at = strstr(at, text)) != NULL; at++) {
            if (at[-1] == ' ' && at[n] == ' ') {
                return 1;
            }
        }
    }
    return 0;
}
