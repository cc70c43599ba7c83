/* SPDX-License-Identifier: Apache-2.0 */
/* Which files make up a DimmWitted factor graph. The meta file FOLDER/BASE.meta has companions in
 * the same folder, each kind in one file or in several that are read in the order of their names:
 *
 *     binary  BASE.weights*  BASE.variables*  BASE.factors*  BASE.domains*
 *     text    weights*.tsv   variables*.tsv   factors*.tsv   domains*.tsv
 *             and for each factors*.tsv a factors*.text2bin-args
 *
 * In text form the names begin with "BASE." unless BASE is "graph". What ends in .tsv or
 * .text2bin-args is no binary companion, nor is what ends in '~' or a writer left unfinished. Any
 * file but the args may end in a further .gz. */
#ifndef GBSI_IO_DIMMWITTED_FILES_H
#define GBSI_IO_DIMMWITTED_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/status.h"

typedef enum gbsi_dw_kind {
    GBSI_DW_WEIGHTS,
    GBSI_DW_VARIABLES,
    GBSI_DW_FACTORS,
    GBSI_DW_DOMAINS,
    GBSI_DW_N_KINDS,
} gbsi_dw_kind;

/* "weights", "variables", ... */
const char *gbsi_dw_kind_name(gbsi_dw_kind kind);

typedef enum gbsi_dw_form { GBSI_DW_ANY, GBSI_DW_BINARY, GBSI_DW_TEXT } gbsi_dw_form;

/* The meta file that a path stands for: itself, or FOLDER/graph.meta. */
typedef struct gbsi_dw_place {
    char *meta;
    size_t n_folder; /* bytes of meta before its name, the '/' included */
    size_t n_base;   /* bytes of the name before ".meta" */
    bool packed;     /* a final .gz */
} gbsi_dw_place;

gbs_status gbsi_dw_place_find(const char *path, gbsi_dw_place *place, gbs_error *err);
void gbsi_dw_place_free(gbsi_dw_place *place);

/* What companions of a kind are called up to where they may differ: FOLDER/graph.weights or
 * FOLDER/weights, then tail. Caller frees. */
gbs_status gbsi_dw_place_name(const gbsi_dw_place *place, gbsi_dw_form form, gbsi_dw_kind kind,
                              const char *tail, char **path, gbs_error *err);
/* The same without the folder, for messages: "graph.weights*", "weights*.tsv". @return text. */
const char *gbsi_dw_pattern(const gbsi_dw_place *place, gbsi_dw_form form, gbsi_dw_kind kind,
                            char *text, size_t size);

/* Companions that are there. */
typedef struct gbsi_dw_files {
    gbsi_dw_form form;
    bool other_form;             /* files of the other form are there too */
    void *path[GBSI_DW_N_KINDS]; /* char *, sorted */
    size_t n[GBSI_DW_N_KINDS];
    size_t capacity[GBSI_DW_N_KINDS];
} gbsi_dw_files;

/* @param form GBSI_DW_ANY: the one that is there (binary if none is), refused if both are. */
gbs_status gbsi_dw_files_find(const gbsi_dw_place *place, gbsi_dw_form form, gbsi_dw_files *files,
                              gbs_error *err);
const char *gbsi_dw_files_path(const gbsi_dw_files *files, gbsi_dw_kind kind, size_t i);
void gbsi_dw_files_free(gbsi_dw_files *files);

#endif
