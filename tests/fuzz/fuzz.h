/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that fuzz targets share. A target is one function that reads an input and checks
 * properties that must hold for everything that was read; libFuzzer calls it, or standalone.c if
 * there is no clang. */
#ifndef GBSI_TESTS_FUZZ_H
#define GBSI_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program if the condition does not hold, so that the input that shows it is kept. */
#define FUZZ_REQUIRE(condition) \
    ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

/* Writes an input to a file.
 * @return its path, valid until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* Writes an input as several files, cut at lines "===NAME".
 * @return the path of their folder, valid until the next call. */
const char *fuzz_files(const uint8_t *data, size_t size);

/* Checks a failure: it must have a status, and a message in which nothing can move a cursor; no
 * input of a fuzzer is large enough to run out of memory. */
void fuzz_check_failure(gbs_status status, const gbs_error *err);
/* Checks the refusal of an input: besides, its message must begin with the name of the file. */
void fuzz_check_refusal(const char *name, gbs_status status, const gbs_error *err);

/* The callback warn of options: checks that warnings contain nothing that can move a cursor
 * either. */
void fuzz_take_warning(void *context, const char *message);

/* @return a number below n that depends on nothing but the input. */
uint32_t fuzz_choose(const uint8_t *data, size_t size, uint32_t n);

/* @return a small model with unequal arities against which files of evidence, states, ... are
 * read. */
const gbs_model *fuzz_small_model(void);

/* Checks that the rest of the library may rely on the model. */
void fuzz_check_model(const gbs_model *model);

/* Writes the model in a format and reads that again, both without a file system. @return NULL if
 * the format cannot hold it, or what is written might be too much. */
gbs_model *fuzz_through_file(const gbs_model *model, const char *format,
                             const gbs_read_options *options);

/* Does the same in a folder, for formats of several files.
 * @param name of the file that a user names. */
gbs_model *fuzz_through_folder(const gbs_model *model, const char *format, const char *name,
                               const gbs_read_options *options);

#endif
