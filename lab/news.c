/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/news.h"

#include <string.h>

#include "base/memory.h"

#define MOST_WORDS 64 /* of a sentence */
#define A_WORD     24 /* bytes of a line, at most */
#define PHRASES    4  /* of a sentence */

const char lab_news_templates[] = "u0:%x[0,0]\n"
                                  "u1:%x[-1,0]\n"
                                  "u2:%x[1,0]\n"
                                  "u3:%x[-1,0]/%x[0,0]\n"
                                  "u4:%t[-1,0,\"^\\u\"]%t[0,0,\"^\\u\"]%t[1,0,\"^\\u\"]\n"
                                  "u5:%m[0,0,\"..$\"]\n"
                                  "b\n";

/* Words beside names; "*" stands for a name. */
static const char *const phrases[][3] = {
    /* tells a person */
    {"Mister * said", "the writer * left", "* smiled and"},
    /* a place */
    {"the road to *", "they live in *", "in * today"},
    /* an organisation */
    {"shares of * fell", "* Bank lost", "an officer of *"},
    /* nothing */
    {"then * came", "all know *", "and * again"},
};
enum { PERSON, PLACE, ORGANISATION, NOTHING };
static const char *const ending[] = {"PER", "LOC", "ORG"};

/* A sentence while it is made: words with labels, from numbers of its own. */
typedef struct writer {
    const laboratory *lab;
    uint32_t sentence, n_drawn;
    char *at; /* where the next line goes */
} writer;

static double draw(writer *w)
{
    double u[2];
    lab_uniforms(w->lab, LAB_NEWS, w->sentence, w->n_drawn++, u);
    return u[0];
}

static uint32_t choose(writer *w, uint32_t n)
{
    return (uint32_t)(draw(w) * n);
}

static void write_text(writer *w, const char *text, size_t n)
{
    memcpy(w->at, text, n);
    w->at += n;
}

/* Two or three syllables: few enough for names to come back. */
static void write_name(writer *w)
{
    static const char *const syllable[] = {"ka", "lo", "mi", "ren", "su", "tor", "vel", "ba"};
    const uint32_t n = 2 + choose(w, 2);
    for (uint32_t i = 0; i < n; i++) {
        const char *text = syllable[choose(w, sizeof syllable / sizeof syllable[0])];
        char capital[8];
        (void)strcpy(capital, text);
        capital[0] = i == 0 ? (char)(capital[0] - 'a' + 'A') : capital[0];
        write_text(w, capital, strlen(capital));
    }
}

static void write_label(writer *w, const char *begin, const char *kind)
{
    write_text(w, "\t", 1);
    write_text(w, begin, strlen(begin));
    write_text(w, kind, strlen(kind));
    write_text(w, "\n", 1);
}

/* A name of one or two words, which ends as most of its kind do. */
static void write_names(writer *w, uint32_t kind)
{
    static const char *const usual[] = {"son", "ville", "co"};
    const uint32_t n = 1 + (draw(w) < 0.4);
    for (uint32_t i = 0; i < n; i++) {
        write_name(w);
        if (draw(w) < 0.25) {
            write_text(w, usual[kind], strlen(usual[kind]));
        }
        write_label(w, i == 0 ? "B-" : "I-", ending[kind]);
    }
}

static void write_phrase(writer *w)
{
    const uint32_t kind = choose(w, 3);
    const uint32_t told = draw(w) < 0.55 ? kind : NOTHING;
    const char *word = phrases[told][choose(w, 3)];
    while (*word != '\0') {
        const size_t n = strcspn(word, " ");
        if (*word == '*') {
            write_names(w, kind);
        } else {
            const bool in_name = strncmp(word, "Bank", n) == 0;
            write_text(w, word, n);
            write_label(w, in_name ? "I-" : "O", in_name ? ending[kind] : "");
        }
        word += n + (word[n] == ' ');
    }
}

gbs_status lab_news_make(const laboratory *lab, uint32_t first, uint32_t n, gbs_sequences **data,
                         gbs_error *err)
{
    char *text = gbsi_alloc_array(n, (size_t)MOST_WORDS * A_WORD);
    if (text == NULL) {
        return gbsi_no_memory(err, "sentences", (size_t)n * MOST_WORDS * A_WORD);
    }
    writer w = {.lab = lab, .at = text};
    for (uint32_t s = 0; s < n; s++) {
        w.sentence = first + s;
        w.n_drawn = 0;
        for (uint32_t k = 0; k < PHRASES; k++) {
            write_phrase(&w);
        }
        write_text(&w, ".\tO\n\n", 5);
    }
    const gbs_status status =
        gbs_sequences_read_memory("sentences", text, (size_t)(w.at - text), data, err);
    gbsi_free(text);
    return status;
}
