/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that write text into a gbs_output. The public headers only have functions that open,
 * commit and discard an output. The writers of all groups and the program call the functions of
 * this header. The program links the static library, because the shared library does not export
 * these functions. If the output is NULL, nothing is written. */
#ifndef GBSI_TEXT_OUTPUT_H
#define GBSI_TEXT_OUTPUT_H

#include <stdbool.h>

#include "gibbsite/io.h"

void gbsi_output_text(gbs_output *output, const char *text);
void gbsi_output_bytes(gbs_output *output, const void *bytes, size_t n);
void gbsi_output_uint(gbs_output *output, uint64_t value);
/* Writes the shortest decimal that reads back to the same double, or "inf", "-inf", "nan". */
void gbsi_output_double(gbs_output *output, double value);
/* Writes a JSON string literal with quotes and escapes. */
void gbsi_output_json_string(gbs_output *output, const char *text);
/* Writes a JSON number, or null if value is not finite. */
void gbsi_output_json_double(gbs_output *output, double value);
/* Writes a CSV field, quoted if RFC 4180 requires it. */
void gbsi_output_csv_field(gbs_output *output, const char *text);
/* Sets whether gbsi_output_csv_field() puts an apostrophe before texts that a spreadsheet would
 * take for a formula. Such texts begin with =, +, @, -, a tab or a carriage return. The setting
 * applies to all threads and is 0 at first. A name with an apostrophe differs from the name in the
 * model, so the file cannot be read back with the model. */
void gbsi_set_csv_safe(int safe);
/* @return the length in bytes of the first character of text if that character has zero width or
 *   is a bidirectional control, otherwise 0. Such a character can make a name look like another
 *   one.
 * @param code [7] out: an escape such as "\\u202e"; NULL is allowed. */
size_t gbsi_unseen(const char *text, char *code);
/* Whether a text is well-formed UTF-8. */
int gbsi_is_utf8(const char *text);

/* Writes everything to disk and closes the file, which keeps its temporary name until
 * gbs_output_commit(). Useful for several files that should appear together or not at all.
 * Nothing may be written to the output afterwards. */
gbs_status gbsi_output_finish(gbs_output *output, gbs_error *err);
/* Commits several files that belong together. All files are on disk before the first one is
 * renamed. If a file cannot be written, none is renamed.
 * @param output [n], freed in any case. */
gbs_status gbsi_output_commit_all(gbs_output *const *output, size_t n, gbs_error *err);

/* Begins a set. Files that this thread commits from now on wait, complete and on disk, until
 * gbsi_output_set_end() gives all of them their names together. Checkpoints, and outputs that are
 * written directly (pipes, standard output), do not wait. Sets cannot be nested. */
void gbsi_output_set_begin(void);
/* Ends the set.
 * @param keep 0: discards the files of the set, and leaves existing files of these names
 *   untouched.
 * @return the status that gbsi_output_commit_all() would return. */
gbs_status gbsi_output_set_end(int keep, gbs_error *err);

/* @return the length of path without a final ".gz" or ".zst". Such an ending makes an output
 *   compress. */
size_t gbsi_unpacked_length(const char *path);

/* Sets whether numbers are written as [-]digits[.digits] from now on, for readers that know no
 * exponents. */
void gbsi_output_fixed_floats(gbs_output *output, bool fixed);
bool gbsi_output_has_fixed_floats(const gbs_output *output);

/* Commits as gbsi_output_commit_all() does, but at once, even if this thread has begun a set. */
gbs_status gbsi_output_commit_now(gbs_output *const *output, size_t n, gbs_error *err);

/* Finds the file to which a path leads through symbolic links. This file will be written, whether
 * or not it exists, and the links are kept.
 * @param target out: path of this file; a copy of `path` if `path` is not a link. The caller frees
 *   it. */
gbs_status gbsi_output_target(const char *path, char **target, gbs_error *err);

/* Finds out whether `name` is the name of a file that belongs to the kept file PATH
 * (text/kept_file.h), such as PATH~. */
gbs_status gbsi_kept_owns(const char *path, const char *name, bool *owns, gbs_error *err);

/* @return the path, or a word for standard output, for messages. */
const char *gbsi_output_name(const gbs_output *output);

/* @return the number of bytes written so far, before any compression. */
uint64_t gbsi_output_length(const gbs_output *output);

/* Writes a decimal such as "-1.5e-7". gbsi_output_fixed_floats() sets whether the output has
 * exponents.
 * @param n length of the text. */
void gbsi_output_decimal(gbs_output *output, const char *text, size_t n);

#endif
