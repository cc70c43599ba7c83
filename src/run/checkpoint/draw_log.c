/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/draw_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/saved.h"
#include "chains/run.h"
#include "store/model.h"
#include "text/common.h"
#include "text/kept_file.h"

#define BUFFER_BYTES ((size_t)1 << 20)
enum { N_HEAD = 4 };

static const gbsi_kept_form draws_form = {
    "file of draws", {0x89, 'G', 'D', 'R', '\r', '\n', 0x1a, '\n'}, 1};

/* The draws that a checkpoint counts, in a file that has been checked. */
typedef struct source {
    FILE *file; /* NULL if there are none */
    uint64_t n_draws;
    uint32_t n_chains;
    gbsi_digest *digest; /* digest of the bytes of the draws */
} source;

struct gbsi_draw_log {
    const gbs_model *model; /* borrowed */
    uint32_t *variable;     /* [n] variables whose states are logged */
    uint32_t n;
    uint32_t state_bytes; /* bytes of a state: 2 if one byte is too small for the number of states
                             including "none", else 1 */
    uint32_t n_chains;    /* number of chains, set at the first draw */
    uint64_t n_draws;     /* number of draws of each chain */
    gbsi_digest *digest;  /* digest of all bytes */
    void *row;            /* [n] states of one draw, of state_bytes each */
    char *name;           /* name of the file that is written; NULL if no file is written */
    int fd;               /* descriptor of the file; -1 if the file is not open */
    char *buffer;         /* [BUFFER_BYTES] bytes not yet written to the file */
    size_t n_buffered;
    gbs_error failure; /* the first failure, after which nothing is written */
    source from;       /* the draws after which this run goes on */
};

/* ---- life ------------------------------------------------------------------------------------ */

static gbs_status choose(gbsi_draw_log *log, const uint32_t *variable, uint32_t n, gbs_error *err)
{
    log->n = variable == NULL ? log->model->n_variables : n;
    log->variable = gbsi_alloc_array(log->n, sizeof *log->variable);
    GBSI_PASS(GBSI_HAVE(err, "draws", log->variable));
    log->state_bytes = 1;
    for (uint32_t i = 0; i < log->n; ++i) {
        const uint32_t v = variable == NULL ? i : variable[i];
        if (v >= log->model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %" PRIu32 ": the model has %u", v,
                             log->model->n_variables);
        }
        log->variable[i] = v;
        log->state_bytes = log->model->arity[v] > UINT8_MAX ? 2 : log->state_bytes;
    }
    return GBS_OK;
}

gbs_status gbsi_draw_log_new(const gbs_model *model, const uint32_t *variable, uint32_t n,
                             gbsi_draw_log **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_draw_log *log = gbsi_alloc_zero(sizeof *log);
    GBSI_PASS(GBSI_HAVE(err, "draws", log));
    log->model = model;
    log->fd = -1;
    GBSI_TRY(choose(log, variable, n, err));
    GBSI_TRY(gbsi_digest_new(&log->digest, err));
    log->row = gbsi_alloc_lanes(log->n, log->state_bytes);
    log->buffer = gbsi_alloc(BUFFER_BYTES);
    GBSI_TRY(GBSI_HAVE(err, "draws", log->row, log->buffer));
    *out = log;
    log = NULL;
cleanup:
    gbsi_draw_log_free(log);
    return status;
}

static void close_source(source *from)
{
    if (from->file != NULL) {
        (void)fclose(from->file);
    }
    gbsi_digest_free(from->digest);
    *from = (source){0};
}

void gbsi_draw_log_free(gbsi_draw_log *log)
{
    if (log == NULL) {
        return;
    }
    close_source(&log->from);
    if (log->fd >= 0) {
        (void)close(log->fd);
    }
    gbsi_digest_free(log->digest);
    GBSI_FREE(log->variable, log->row, log->buffer, log->name, log);
}

uint32_t gbsi_draw_log_variables(const gbsi_draw_log *log, const uint32_t **variable)
{
    *variable = log->variable;
    return log->n;
}

uint64_t gbsi_draw_log_count(const gbsi_draw_log *log, char *digest)
{
    digest[0] = '\0';
    if (log->n_draws > 0) {
        gbsi_digest_text(log->digest, digest);
    }
    return log->n_draws;
}

/* Makes the name of the file of draws: "run.ckpt.draws", for "run.ckpt" and also for the previous
 * checkpoint "run.ckpt~". The caller frees it. */
static gbs_status name_of(const char *checkpoint, char **name, gbs_error *err)
{
    const size_t n = strlen(checkpoint);
    char *newest = gbsi_alloc(n + 1);
    GBSI_PASS(GBSI_HAVE(err, checkpoint, newest));
    memcpy(newest, checkpoint, n + 1);
    if (n > 1 && newest[n - 1] == '~') {
        newest[n - 1] = '\0';
    }
    const gbs_status status = gbsi_kept_beside(newest, GBSI_KEPT_DRAWS, name, err);
    gbsi_free(newest);
    return status;
}

/* ---- written --------------------------------------------------------------------------------- */

gbs_status gbsi_draw_log_write_beside(gbsi_draw_log *log, const char *checkpoint, gbs_error *err)
{
    char *name = NULL;
    GBSI_PASS(name_of(checkpoint, &name, err));
    gbsi_free(log->name);
    log->name = name;
    return gbsi_kept_check_own(name, &draws_form, err);
}

static void flush(gbsi_draw_log *log)
{
    const char *bytes = log->buffer;
    while (log->n_buffered > 0 && log->failure.status == GBS_OK) {
        const ssize_t done = write(log->fd, bytes, log->n_buffered);
        if (done < 0 && errno != EINTR) {
            (void)gbsi_fail_errno(&log->failure, log->name, "cannot be written", errno);
        }
        if (done > 0) {
            bytes += done;
            log->n_buffered -= (size_t)done;
        }
    }
    log->n_buffered = 0;
}

static gbs_status put(void *context, const void *bytes, size_t n, gbs_error *err)
{
    gbsi_draw_log *log = context;
    const char *from = bytes;
    (void)err;
    gbsi_digest_bytes(log->digest, bytes, n);
    while (n > 0) {
        if (log->n_buffered == BUFFER_BYTES) {
            flush(log);
        }
        const size_t room = BUFFER_BYTES - log->n_buffered;
        const size_t part = n < room ? n : room;
        memcpy(log->buffer + log->n_buffered, from, part);
        log->n_buffered += part;
        from += part;
        n -= part;
    }
    return GBS_OK;
}

static gbs_status put_head(const gbsi_draw_log *log, const gbsi_sink *sink, gbs_error *err)
{
    const uint32_t head[N_HEAD] = {draws_form.version, log->n_chains, log->state_bytes, log->n};
    GBSI_PASS(sink->put(sink->context, draws_form.magic, sizeof draws_form.magic, err));
    GBSI_PASS(gbsi_put_numbers(sink, head, N_HEAD, sizeof head[0], err));
    return gbsi_put_numbers(sink, log->variable, log->n, sizeof log->variable[0], err);
}

/* Writes a file without draws, which replaces an existing file. */
static void begin_file(gbsi_draw_log *log, uint32_t n_chains)
{
    const gbsi_sink sink = {log, put};
    log->n_chains = n_chains;
    log->fd = open(log->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (log->fd < 0) {
        (void)gbsi_fail_errno(&log->failure, log->name, "cannot be created", errno);
        return;
    }
    (void)put_head(log, &sink, NULL);
}

/* Logs one draw, chain by chain; does nothing without a file. A failure is reported by the next
 * gbsi_draw_log_sync(). @param state [n_variables of the model] */
static void put_draw(gbsi_draw_log *log, uint32_t n_chains, uint32_t chain, double log_density,
                     const uint32_t *state)
{
    const gbsi_sink sink = {log, put};
    uint8_t *narrow = log->row;
    uint16_t *wide = log->row;
    if (log->name == NULL || log->failure.status < 0) {
        return;
    }
    if (log->fd < 0) {
        begin_file(log, n_chains);
    }
    for (uint32_t i = 0; i < log->n;
         ++i) { /* GBSI_NONE has all bits set; the conversion leaves all bits set */
        const uint32_t x = state[log->variable[i]];
        if (log->state_bytes == 1) {
            narrow[i] = (uint8_t)x;
        } else {
            wide[i] = (uint16_t)x;
        }
    }
    (void)gbsi_put_numbers(&sink, &log_density, 1, sizeof log_density, NULL);
    (void)gbsi_put_numbers(&sink, log->row, log->n, log->state_bytes, NULL);
    log->n_draws += chain + 1 == log->n_chains ? 1 : 0;
}

gbs_status gbsi_draw_log_sync(gbsi_draw_log *log, gbs_error *err)
{
    if (log->fd >= 0 && log->failure.status == GBS_OK) {
        flush(log);
        if (log->failure.status == GBS_OK && fsync(log->fd) != 0) {
            (void)gbsi_fail_errno(&log->failure, log->name, "cannot be flushed to disk", errno);
        }
    }
    return log->failure.status < 0 ? gbsi_fail(err, log->failure.status, "%s", log->failure.message)
                                   : GBS_OK;
}

/* ---- read ------------------------------------------------------------------------------------ */

static gbs_status count(void *context, const void *bytes, size_t n, gbs_error *err)
{
    (void)bytes;
    (void)err;
    *(uint64_t *)context += n;
    return GBS_OK;
}

static uint64_t head_bytes(const gbsi_draw_log *log)
{
    uint64_t bytes = 0;
    (void)put_head(log, &(gbsi_sink){&bytes, count}, NULL);
    return bytes;
}

/* Number of bytes of the draws; UINT64_MAX if the number is larger than any file. */
static uint64_t bytes_of(const gbsi_draw_log *log, const source *from)
{
    const uint64_t row = sizeof(double) + (uint64_t)log->n * log->state_bytes;
    const uint64_t room = (uint64_t)INT64_MAX - head_bytes(log);
    return from->n_chains > 0 && from->n_draws > room / row / from->n_chains
               ? UINT64_MAX
               : head_bytes(log) + from->n_draws * from->n_chains * row;
}

/* Checks that the bytes of the draws have their digest. The file position is then behind the head
 * of the file. */
static gbs_status check_bytes(const gbsi_draw_log *log, source *from, const char *name,
                              const char *digest, gbs_error *err)
{
    char part[1 << 14];
    char found[33];
    const uint64_t n = bytes_of(log, from);
    for (uint64_t left = n; left > 0;) {
        const size_t some = left < sizeof part ? (size_t)left : sizeof part;
        if (fread(part, 1, some, from->file) != some) {
            return gbsi_fail(err, GBS_ERR_IO, "%s: cannot be read", name);
        }
        gbsi_digest_bytes(from->digest, part, some);
        left -= some;
    }
    gbsi_digest_text(from->digest, found);
    if (strcmp(found, digest) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: its first %" PRIu64 " bytes have the digest %s, the checkpoint's "
                         "draws had %s: the file is damaged, or of another run",
                         name, n, found, digest);
    }
    return fseek(from->file, (long)head_bytes(log), SEEK_SET) == 0
               ? GBS_OK
               : gbsi_fail_errno(err, name, "cannot be read", errno);
}

static gbs_status open_source(const gbsi_draw_log *log, source *from, const char *name,
                              gbs_error *err)
{
    struct stat is;
    from->file = fopen(name, "rb");
    if (from->file == NULL || fstat(fileno(from->file), &is) != 0) {
        return gbsi_fail_errno(err, name, "the draws of the checkpoint cannot be opened", errno);
    }
    const uint64_t bytes = bytes_of(log, from);
    return S_ISREG(is.st_mode) && (uint64_t)is.st_size >= bytes
               ? gbsi_digest_new(&from->digest, err)
               : gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s: the draws of the checkpoint had %" PRIu64
                           " bytes, and the file has %" PRIu64,
                           name, bytes, (uint64_t)is.st_size);
}

gbs_status gbsi_draw_log_open(gbsi_draw_log *log, const char *checkpoint, uint64_t n_draws,
                              uint32_t n_chains, const char *digest, gbs_error *err)
{
    gbs_status status = GBS_OK;
    source from = {.n_draws = n_draws, .n_chains = n_chains};
    char *name = NULL;
    GBSI_PASS(name_of(checkpoint, &name, err));
    if (n_draws > 0) { /* without draws, the file does not exist yet */
        GBSI_TRY(open_source(log, &from, name, err));
        GBSI_TRY(check_bytes(log, &from, name, digest, err));
    }
    close_source(&log->from);
    log->from = from;
    from = (source){0};
cleanup:
    close_source(&from);
    gbsi_free(name);
    return status;
}

/* If the draws from which the run continues are in the file that will be written, opens this
 * file for appending and truncates it after these draws. @return whether the draws are in this
 * file. */
static bool go_on_in_place(gbsi_draw_log *log)
{
    struct stat read;
    struct stat written;
    const int fd = log->name == NULL ? -1 : open(log->name, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    if (fstat(fileno(log->from.file), &read) != 0 || fstat(fd, &written) != 0 ||
        read.st_dev != written.st_dev || read.st_ino != written.st_ino) {
        (void)close(fd);
        return false;
    }
    const off_t end = (off_t)bytes_of(log, &log->from);
    log->fd = fd;
    if (ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) != end) {
        (void)gbsi_fail_errno(&log->failure, log->name, "cannot be written", errno);
    }
    return true;
}

static gbs_status take(void *context, void *bytes, size_t n, gbs_error *err)
{
    return fread(bytes, 1, n, context) == n
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_IO, "the draws of the checkpoint cannot be read");
}

/* Reads the draw of one chain. @param state [n_variables of the model] out */
static gbs_status take_draw(const gbsi_draw_log *log, double *log_density, uint32_t *state,
                            gbs_error *err)
{
    const gbsi_source saved = {log->from.file, take};
    const uint8_t *narrow = log->row;
    const uint16_t *wide = log->row;
    GBSI_PASS(gbsi_take_numbers(&saved, log_density, 1, sizeof *log_density, err));
    GBSI_PASS(gbsi_take_numbers(&saved, log->row, log->n, log->state_bytes, err));
    for (uint32_t i = 0; i < log->n; ++i) {
        const uint32_t v = log->variable[i];
        const uint32_t x = log->state_bytes == 1 ? narrow[i] : wide[i];
        state[v] = x < log->model->arity[v] ? x : GBSI_NONE;
    }
    return GBS_OK;
}

gbs_status gbsi_draw_log_give_again(gbsi_draw_log *log, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (log->from.file == NULL) {
        return GBS_OK;
    }
    uint32_t *state = gbsi_alloc_array(log->model->n_variables, sizeof *state);
    GBSI_PASS(GBSI_HAVE(err, "draws", state));
    memset(state, 0xff, log->model->n_variables * sizeof *state); /* all GBSI_NONE */
    const bool in_place = go_on_in_place(log);
    if (in_place) {
        gbsi_digest_free(log->digest);
        log->digest = log->from.digest;
        log->n_draws = log->from.n_draws;
        log->n_chains = log->from.n_chains;
        log->from.digest = NULL;
    }
    drive->whole = true; /* the time limit does not cut this work short, only the later work */
    for (uint64_t draw = 0; draw < log->from.n_draws; ++draw) {
        for (uint32_t chain = 0; chain < log->from.n_chains; ++chain) {
            double log_density = 0.0;
            GBSI_TRY(take_draw(log, &log_density, state, err));
            if (!in_place) {
                put_draw(log, log->from.n_chains, chain, log_density, state);
            }
            GBSI_TRY(drive->callbacks->draw(drive->callbacks->context, draw, chain, log_density,
                                            state, err));
        }
        (void)gbsi_watch_spend(&drive->watch, (uint64_t)log->n * log->from.n_chains);
        if (drive->stop == GBSI_STOP_SIGNAL) {
            GBSI_TRY(gbsi_stopped_early(drive, "giving the draws of the checkpoint", err));
        }
    }
cleanup:
    drive->whole = false;
    close_source(&log->from);
    gbsi_free(state);
    return status;
}

gbs_status gbsi_run_give_draw(gbsi_checkpoints *checkpoints, gbsi_report *report,
                              const gbsi_drive *drive, uint64_t draw, uint32_t chain,
                              double log_density, const uint32_t *state, gbs_error *err)
{
    if (checkpoints->draws != NULL) {
        put_draw(checkpoints->draws, report->public.chains, chain, log_density, state);
    }
    return drive->callbacks->draw(drive->callbacks->context, draw, chain, log_density, state, err);
}
