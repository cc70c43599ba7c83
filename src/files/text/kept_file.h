/* SPDX-License-Identifier: Apache-2.0 */
/* A file of state that is written repeatedly: each time a new file is written completely, and the
 * previous one stays as FILE~. A damaged file is detected when it is read.
 *
 *     0   8 bytes   what it is
 *     8   u32       version of its content; u32 zero
 *     16  u64       bytes of the file
 *     24  content
 *     end 32 bytes  XXH3-128 of all before, in hexadecimal */
#ifndef GBSI_TEXT_KEPT_FILE_H
#define GBSI_TEXT_KEPT_FILE_H

#include <stdbool.h>

#include "base/saved.h"

typedef struct gbsi_kept_form {
    const char *what; /* what the file is, for messages: "checkpoint" */
    unsigned char magic[8];
    uint32_t version;
} gbsi_kept_form;

/* The content to write. save() is called twice, the first time only to count the bytes. The two
 * calls must put equal bytes. */
typedef struct gbsi_kept_content {
    const void *object;
    gbs_status (*save)(const void *object, const gbsi_sink *sink, gbs_error *err);
} gbsi_kept_content;

/* Endings of the files that belong to a kept file PATH: its previous content, its lock, and the log
 * of draws of a checkpoint. */
#define GBSI_KEPT_BEFORE "~"
#define GBSI_KEPT_LOCK   ".lock"
#define GBSI_KEPT_DRAWS  ".draws"

/* Makes the name of a file that belongs to the kept file, such as PATH~. If PATH is a symbolic
 * link, the name is made from the path of the file to which the link leads, because this file is
 * written.
 * @param name out: the caller frees it. */
gbs_status gbsi_kept_beside(const char *path, const char *ending, char **name, gbs_error *err);

/* Writes the next file.
 * @param n_rooms number of such files for which the disk must have room: 2 if the next file will
 *   be written beside this one, otherwise 1.
 * @return GBS_ERR_IO if the file cannot be written or there is no room; GBS_ERR_ARGUMENT if PATH
 *   or PATH~ is a file of another form that is not empty. The previous file is then unchanged. */
gbs_status gbsi_kept_write(const char *path, const gbsi_kept_form *form,
                           const gbsi_kept_content *content, unsigned n_rooms, gbs_error *err);

/* Checks that a new file would replace a file of its form, an empty file or nothing.
 * @return GBS_ERR_ARGUMENT if the file at path is none of these. */
gbs_status gbsi_kept_check_own(const char *path, const gbsi_kept_form *form, gbs_error *err);

/* A lock on PATH.lock, an empty file beside the file to which PATH leads. Only one run at a time
 * can write PATH, because a run holds the lock while it writes. The lock ends with the process,
 * even after a crash. The lock also keeps out another run of the same process. */
typedef struct gbsi_kept_lock {
    char *path; /* NULL if nothing is locked */
    int fd;
} gbsi_kept_lock;

/* Releases the present lock, and locks another path.
 * @param no_locks out: why the file system has no locks, or NULL if it has locks.
 * @return GBS_ERR_IO if another run holds the lock; GBS_ERR_ARGUMENT if PATH.lock exists and is no
 * empty file, or if PATH or PATH~ is a file of another form that is not empty. If the lock file
 * cannot be made, nothing is locked, because writing PATH itself will fail with a message. */
gbs_status gbsi_kept_lock_take(gbsi_kept_lock *lock, const char *path, const gbsi_kept_form *form,
                               const char **no_locks, gbs_error *err);
void gbsi_kept_lock_release(gbsi_kept_lock *lock);

typedef struct gbsi_kept gbsi_kept;

/* Whether the file at path is regular and begins with the form's magic. */
bool gbsi_kept_is(const char *path, const gbsi_kept_form *form);

/* Opens a file and checks all its bytes. Reading then begins at its content.
 * @return GBS_ERR_IO if the file cannot be read; GBS_ERR_FORMAT if its kind, version or size is
 *   wrong, or if it is damaged. */
gbs_status gbsi_kept_open(const char *path, const gbsi_kept_form *form, gbsi_kept **out,
                          gbs_error *err);
void gbsi_kept_close(gbsi_kept *kept); /* NULL is allowed */
/* @return a source that reads the content of the file; a read past the end of the content fails
 *   with GBS_ERR_FORMAT. */
gbsi_source gbsi_kept_source(gbsi_kept *kept);
/* @return the number of bytes of the content that were not read yet. */
uint64_t gbsi_kept_left(const gbsi_kept *kept);
/* @return the number of bytes of the file. */
uint64_t gbsi_kept_bytes(const gbsi_kept *kept);

#endif
