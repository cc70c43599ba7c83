/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole file into memory and unpacks a compressed file. */
#ifndef GBSI_TEXT_INPUT_H
#define GBSI_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mapping.h"
#include "gibbsite/io.h"
#include "gibbsite/status.h"

#define GBSI_BEGIN_BYTES 16u /* number of first bytes that identify every format except text */

typedef struct gbsi_input {
    const char *name;  /* name for messages; borrowed */
    const char *bytes; /* [n] bytes of the file; owned, borrowed or mapped */
    size_t n;
    void *owned;
    gbsi_mapping mapping;
} gbsi_input;

/* @param path "-" for standard input; must last as long as the input, which borrows it. */
gbs_status gbsi_input_read(const char *path, gbsi_input *input, gbs_error *err);
/* Reads a file that should be text. A pipe or a device is read only up to the first NUL, which
 * is then the last byte of the input. */
gbs_status gbsi_input_read_text(const char *path, gbsi_input *input, gbs_error *err);
/* Whether an input of at least GBSI_BEGIN_BYTES bytes begins like a file of one format. */
typedef bool gbsi_begins(const gbsi_input *input);
/* Reads a file of one format. If the first bytes belong to another format, no more bytes are read,
 * because a device or a pipe may have no end. The reader of the format then refuses the bytes that
 * were read. */
gbs_status gbsi_input_read_begun(const char *path, gbsi_begins *begins, gbsi_input *input,
                                 gbs_error *err);
/* Reads a file as gbsi_input_read_begun() does, but maps large regular files, because some readers
 * use the bytes in place.
 * @param copied whether large files are copied instead of mapped. gbsi_input_take() hands the copy
 *   over. */
gbs_status gbsi_input_map(const char *path, gbsi_begins *begins, bool copied, gbsi_input *input,
                          gbs_error *err);
/* Moves the bytes of the input into `mapping`: the mapping of the input or, if the input has none,
 * an aligned copy. The input is empty afterwards. */
gbs_status gbsi_input_take(gbsi_input *input, gbsi_mapping *mapping, gbs_error *err);
/* Makes an input of bytes in memory. The bytes are borrowed unless they are compressed. */
gbs_status gbsi_input_memory(const char *name, const void *bytes, size_t n, gbsi_input *input,
                             gbs_error *err);
void gbsi_input_free(gbsi_input *input);

/* Converts text to UTF-8 if it has letters in another encoding (encoding.c). XML may declare
 * ISO-8859-1 or windows-1252. Other text is taken for one of these encodings, with a warning.
 * Text that mixes such letters with UTF-8 is refused unless the options are lenient. If options
 * is NULL, there are no warnings. */
gbs_status gbsi_input_decode(gbsi_input *input, const gbs_read_options *options, gbs_error *err);

/* Checks whether n_packed bytes may unpack to n bytes, as a protection from decompression bombs.
 * @return GBS_ERR_LIMIT if the bytes may not; the message has the two numbers. */
gbs_status gbsi_unpack_limit(const char *name, size_t n_packed, size_t n, gbs_error *err);

/* Unpacks all members of the gzip file in packed[0 .. n). @param bytes out, caller frees. */
gbs_status gbsi_inflate(const char *name, const void *packed, size_t n, void **bytes,
                        size_t *n_bytes, gbs_error *err);
/* Unpacks all frames of a zstd file. */
gbs_status gbsi_unzstd(const char *name, const void *packed, size_t n, void **bytes,
                       size_t *n_bytes, gbs_error *err);

/* Unpack xz and bzip2. @return GBS_ERR_UNSUPPORTED in builds without the library of the format. */
gbs_status gbsi_unxz(const char *name, const void *packed, size_t n, void **bytes, size_t *n_bytes,
                     gbs_error *err);
gbs_status gbsi_unbz2(const char *name, const void *packed, size_t n, void **bytes, size_t *n_bytes,
                      gbs_error *err);

/* Frees the unused memory behind n bytes, so that memory checkers detect a read behind the end of a
 * file. After a failure, the memory keeps its size. @return the memory, which may have moved. */
void *gbsi_input_shrink(void *bytes, size_t n);

/* Unpacks a raw deflate stream (a ZIP member) to exactly n_bytes.
 * @param bytes out, [n_bytes]. */
gbs_status gbsi_inflate_raw(const char *name, const void *packed, size_t n, void *bytes,
                            size_t n_bytes, gbs_error *err);

/* @return GBS_ERR_IO, with the reason, if there is nothing at path. */
gbs_status gbsi_input_check(const char *path, gbs_error *err);

#endif
