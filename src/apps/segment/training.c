/* SPDX-License-Identifier: Apache-2.0 */
#include "segment/aspects.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static char *copy(const char *from, size_t n, const char *folder, size_t n_folder)
{
    char *text = gbsi_alloc(n_folder + n + 1);
    if (text != NULL) {
        memcpy(text, folder, n_folder);
        memcpy(text + n_folder, from, n);
        text[n_folder + n] = '\0';
    }
    return text;
}

/* Makes a path from a path that is relative to the folder of the list. */
static char *path_of(const char *list, gbsi_token token)
{
    const char *slash = strrchr(list, '/');
    const bool absolute = token.at[0] == '/';
    return copy(token.at, token.n, list,
                absolute || slash == NULL ? 0 : (size_t)(slash - list) + 1);
}

static bool is_named(const char *name, gbsi_token token)
{
    return strlen(name) == token.n && memcmp(name, token.at, token.n) == 0;
}

/* Finds the number of a class; a new class gets a new number. @param number out. */
static gbs_status class_of(gbsi_training *t, const gbsi_text *line, gbsi_token token,
                           uint32_t *number, gbs_error *err)
{
    uint32_t a = 0;
    while (a < t->n_classes && !is_named(t->name[a], token)) {
        a++;
    }
    *number = a;
    if (a < t->n_classes) {
        return GBS_OK;
    }
    if (a == GBS_MAX_CLASSES) {
        return gbsi_text_fail(line, token, err, "found more than %u classes", GBS_MAX_CLASSES);
    }
    GBSI_PASS(
        gbsi_reserve((void **)&t->name, &t->name_capacity, a + 1, sizeof *t->name, "classes", err));
    GBSI_PASS(gbsi_reserve((void **)&t->place, &t->place_capacity, a + 1, sizeof *t->place,
                           "classes", err));
    t->place[a] = token;
    t->name[a] = copy(token.at, token.n, "", 0);
    if (t->name[a] == NULL) {
        return gbsi_no_memory(err, "classes", token.n);
    }
    t->n_classes++;
    return GBS_OK;
}

static gbs_status read_lines(gbsi_training *t, gbs_error *err)
{
    gbsi_text text = t->text;
    gbsi_text line;
    while (gbsi_line_next(&text, &line)) {
        uint32_t number = 0;
        gbsi_token token = gbsi_text_next(&line);
        GBSI_PASS(gbsi_reserve((void **)&t->picture, &t->picture_capacity, t->n_pictures + 1,
                               sizeof *t->picture, "pictures", err));
        gbsi_training_picture *picture = &t->picture[t->n_pictures];
        *picture = (gbsi_training_picture){.line = token.at, .path = path_of(t->input.name, token)};
        if (picture->path == NULL) {
            return gbsi_no_memory(err, "pictures", token.n);
        }
        t->n_pictures++;
        token = gbsi_text_next(&line);
        if (token.n == 0) {
            GBSI_PASS(gbsi_line_unexpected(&line, token,
                                           "names of the classes that the picture shows", err));
        }
        for (; token.n != 0; token = gbsi_text_next(&line)) {
            GBSI_PASS(class_of(t, &line, token, &number, err));
        }
    }
    if (t->n_pictures == 0) {
        GBSI_PASS(gbsi_text_unexpected(&text, gbsi_text_peek(&text),
                                       "a picture and the classes that it shows", err));
    }
    return GBS_OK;
}

/* ---- what each shows ------------------------------------------------------------------------- */

static gbs_status mark(gbsi_training *t, gbs_error *err)
{
    const size_t n = t->n_pictures * t->n_classes;
    gbsi_text text = t->text;
    gbsi_text line;
    t->shown = gbsi_alloc_zero(n);
    GBSI_PASS(GBSI_HAVE(err, "classes", t->shown));
    for (size_t k = 0; gbsi_line_next(&text, &line); k++) {
        uint32_t number = 0;
        (void)gbsi_text_next(&line);
        for (gbsi_token token = gbsi_text_next(&line); token.n != 0;
             token = gbsi_text_next(&line)) {
            GBSI_PASS(class_of(t, &line, token, &number, err));
            t->shown[k * t->n_classes + number] = 1;
        }
    }
    return GBS_OK;
}

/* Refuses two classes that are always shown together, because they cannot be distinguished. */
static gbs_status check_pair(const gbsi_training *t, uint32_t a, uint32_t b, gbs_error *err)
{
    for (size_t k = 0; k < t->n_pictures; k++) {
        if (t->shown[k * t->n_classes + a] != t->shown[k * t->n_classes + b]) {
            return GBS_OK;
        }
    }
    return gbsi_text_fail(&t->text, t->place[b], err,
                          "found the classes %s and %s in the same pictures, so that nothing tells "
                          "them apart, expected a picture that shows only one of them",
                          t->name[a], t->name[b]);
}

gbs_status gbsi_training_read(const char *path, gbsi_training *training, gbs_error *err)
{
    GBSI_PASS(gbsi_input_read_text(path, &training->input, err));
    GBSI_PASS(gbsi_text_open(&training->text, &training->input, NULL, err));
    training->text.comment = '#';
    GBSI_PASS(read_lines(training, err));
    GBSI_PASS(mark(training, err));
    for (uint32_t b = 1; b < training->n_classes; b++) {
        for (uint32_t a = 0; a < b; a++) {
            GBSI_PASS(check_pair(training, a, b, err));
        }
    }
    if (training->n_classes < 2) {
        return gbsi_text_fail(&training->text, training->place[0], err,
                              "found no class but %s, expected at least two", training->name[0]);
    }
    return GBS_OK;
}

void gbsi_training_free(gbsi_training *training)
{
    for (size_t k = 0; k < training->n_pictures; k++) {
        gbsi_free(training->picture[k].path);
    }
    gbsi_free(training->place);
    for (uint32_t a = 0; a < training->n_classes && training->name != NULL; a++) {
        gbsi_free(training->name[a]);
    }
    GBSI_FREE(training->picture, training->name, training->shown);
    gbsi_input_free(&training->input);
}
