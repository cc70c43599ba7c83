/* SPDX-License-Identifier: Apache-2.0 */
/* What fuzz targets share. A target is one function that reads an input and checks what holds for
 * whatever was read; libFuzzer calls it, or standalone.c where there is no clang. */
#ifndef GBSI_TESTS_FUZZ_H
#define GBSI_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What does not hold ends the program, so that the input that shows it is kept. */
#define FUZZ_REQUIRE(condition) \
    ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

/* Inputs as a file: a path to it, good until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* An input as several files, cut at lines "===NAME": a path to their folder, good until the next
 * call. */
const char *fuzz_files(const uint8_t *data, size_t size);

/* What a failure must be: a status and a message in which nothing can move a cursor; no input of a
 * fuzzer is large enough to run out of memory. */
void fuzz_check_failure(gbs_status status, const gbs_error *err);
/* What the refusal of an input must be besides: its message begins with the name of the file. */
void fuzz_check_refusal(const char *name, gbs_status status, const gbs_error *err);

/* For the warn of options: warnings show nothing that can move a cursor either. */
void fuzz_take_warning(void *context, const char *message);

/* A number below n that depends on nothing but the input. */
uint32_t fuzz_choose(const uint8_t *data, size_t size, uint32_t n);

/* A small model with unequal arities that files of evidence, states, ... are read against. */
const gbs_model *fuzz_small_model(void);

/* Whether the model is one that the rest of the library may rely on. */
void fuzz_check_model(const gbs_model *model);

/* Writes the model in a format and reads that again, both without a file system. @return NULL if
 * the format cannot hold it, or what is written might be too much. */
gbs_model *fuzz_through_file(const gbs_model *model, const char *format,
                             const gbs_read_options *options);

/* The same in a folder, for formats of several files. @param name of the one that is named. */
gbs_model *fuzz_through_folder(const gbs_model *model, const char *format, const char *name,
                               const gbs_read_options *options);

#endif
