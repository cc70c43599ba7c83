/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/news.h"

#include <string.h>

#include "base/memory.h"

#define MOST_WORDS 64 /* largest number of words of a sentence */
#define A_WORD     24 /* largest number of bytes of a line */
#define PHRASES    4  /* largest number of phrases of a sentence */
#define KNOWN      3  /* number of names that are used several times in a document */

const char lab_news_templates[] = "u0:%x[0,0]\n"
                                  "u1:%x[-1,0]\n"
                                  "u2:%x[1,0]\n"
                                  "u3:%x[-1,0]/%x[0,0]\n"
                                  "u4:%t[-1,0,\"^\\u\"]%t[0,0,\"^\\u\"]%t[1,0,\"^\\u\"]\n"
                                  "u5:%m[0,0,\"..$\"]\n"
                                  "b\n";
const char lab_news_links[] = "=%m[0,0,\"^\\u.*$\"]\n"
                              "s\n"
                              "s0:%x[-1,0]\n"
                              "s1:%x[1,0]\n";

/* Phrases around names, by the kind that they show; "*" stands for a name. */
static const char *const phrases[][3] = {
    /* shows a person */
    {"Mister * said", "the writer * left", "* smiled and"},
    /* shows a place */
    {"the road to *", "they live in *", "in * today"},
    /* shows an organisation */
    {"shares of * fell", "* Bank lost", "an officer of *"},
    /* shows no kind */
    {"then * came", "all know *", "and * again"},
};
enum { PERSON, PLACE, ORGANISATION, NOTHING };
static const char *const ending[] = {"PER", "LOC", "ORG"};

/* A name of one or two words. */
typedef struct name {
    uint32_t kind, n;
    char word[2][A_WORD];
} name;

/* A document in progress: words with labels, made from the document's own random numbers. */
typedef struct writer {
    const laboratory *lab;
    uint32_t document, n_drawn;
    name known[KNOWN];
    char *at; /* position at which the next line is written */
} writer;

static double draw(writer *w)
{
    double u[2];
    lab_uniforms(w->lab, LAB_NEWS, w->document, w->n_drawn++, u);
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

/* Makes a word of two or three syllables. There are so few syllables that words occur several
 * times. */
static void make_word(writer *w, char *word)
{
    static const char *const syllable[] = {"ka", "lo", "mi", "ren", "su", "tor", "vel", "ba"};
    const uint32_t n = 2 + choose(w, 2);
    word[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        (void)strcat(word, syllable[choose(w, sizeof syllable / sizeof syllable[0])]);
    }
    word[0] = (char)(word[0] - 'a' + 'A');
}

/* Makes a name, whose end is often typical of its kind. */
static void make_name(writer *w, uint32_t kind, name *made)
{
    static const char *const usual[] = {"son", "ville", "co"};
    made->kind = kind;
    made->n = 1 + (draw(w) < 0.4);
    for (uint32_t i = 0; i < made->n; i++) {
        make_word(w, made->word[i]);
        if (draw(w) < 0.25) {
            (void)strcat(made->word[i], usual[kind]);
        }
    }
}

static void write_label(writer *w, const char *begin, const char *kind)
{
    write_text(w, "\t", 1);
    write_text(w, begin, strlen(begin));
    write_text(w, kind, strlen(kind));
    write_text(w, "\n", 1);
}

static void write_name(writer *w, const name *written)
{
    for (uint32_t i = 0; i < written->n; i++) {
        write_text(w, written->word[i], strlen(written->word[i]));
        write_label(w, i == 0 ? "B-" : "I-", ending[written->kind]);
    }
}

static void write_phrase(writer *w)
{
    const name *known = draw(w) < 0.5 ? &w->known[choose(w, KNOWN)] : NULL;
    const uint32_t kind = known != NULL ? known->kind : choose(w, 3);
    const uint32_t told = draw(w) < 0.55 ? kind : NOTHING;
    const char *word = phrases[told][choose(w, 3)];
    while (*word != '\0') {
        const size_t n = strcspn(word, " ");
        if (*word == '*' && known != NULL) {
            write_name(w, known);
        } else if (*word == '*') {
            name fresh;
            make_name(w, kind, &fresh);
            write_name(w, &fresh);
        } else {
            const bool in_name = strncmp(word, "Bank", n) == 0;
            write_text(w, word, n);
            write_label(w, in_name ? "I-" : "O", in_name ? ending[kind] : "");
        }
        word += n + (word[n] == ' ');
    }
}

static void write_document(writer *w, uint32_t document, bool whole)
{
    w->document = document;
    w->n_drawn = 0;
    for (uint32_t k = 0; k < KNOWN; k++) {
        make_name(w, choose(w, 3), &w->known[k]);
    }
    for (uint32_t sentence = 0; sentence < LAB_NEWS_LENGTH; sentence++) {
        for (uint32_t k = 0; k < PHRASES; k++) {
            write_phrase(w);
        }
        write_text(w, ".\tO\n\n", whole ? 4 : 5);
    }
    write_text(w, "\n", whole);
}

gbs_status lab_news_make(const laboratory *lab, uint32_t first, uint32_t n, bool whole,
                         gbs_sequences **data, gbs_error *err)
{
    /* largest number of bytes of a document */
    const size_t most = (size_t)LAB_NEWS_LENGTH * MOST_WORDS * A_WORD;
    char *text = gbsi_alloc_array(n, most);
    GBSI_PASS(GBSI_HAVE(err, "sentences", text));
    writer w = {.lab = lab, .at = text};
    for (uint32_t d = 0; d < n; d++) {
        write_document(&w, first + d, whole);
    }
    const gbs_status status =
        gbs_sequences_read_memory("sentences", text, (size_t)(w.at - text), data, err);
    gbsi_free(text);
    return status;
}
