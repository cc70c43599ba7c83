/* SPDX-License-Identifier: Apache-2.0 */
#include "gibbsite/mpi.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of bytes and of values in one MPI message, whose counts are of type int. Tests
 * set smaller limits. */
#ifndef MOST_BYTES
#define MOST_BYTES  (1 << 30)
#define MOST_VALUES (1 << 27)
#endif
#define TAG 1

typedef struct job {
    MPI_Comm comm;
    int rank, n_ranks;
    /* [capacity] requests of MPI; the first n_requests belong to the current exchange. */
    MPI_Request *request;
    size_t n_requests, capacity;
} job;

__attribute__((format(printf, 3, 4))) static gbs_status fail(gbs_error *err, gbs_status status,
                                                             const char *format, ...)
{
    if (err != NULL) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        (void)vsnprintf(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* @param call name of the MPI function. @param code the value that it returned. */
static gbs_status checked(const char *call, int code, gbs_error *err)
{
    if (code == MPI_SUCCESS) {
        return GBS_OK;
    }
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int n = 0;
    (void)MPI_Error_string(code, text, &n);
    return fail(err, GBS_ERR_IO, "%s: %s", call, text);
}

static int part_of(size_t n, size_t done, size_t most)
{
    return (int)(n - done < most ? n - done : most);
}

/* Flips the highest bits. MPICH 4.0 compares values of MPI_UINT64_T as signed numbers; with flipped
 * highest bits, the signed order is the unsigned order of the originals. */
static void turn_highest_bits(uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        values[i] ^= UINT64_C(1) << 63;
    }
}

static gbs_status combine(void *context, gbs_combine_kind kind, void *values, size_t n,
                          gbs_error *err)
{
    static const struct {
        MPI_Datatype type;
        MPI_Op operation;
    } how[] = {
        [GBS_COMBINE_SUM_U64] = {MPI_UINT64_T, MPI_SUM},
        [GBS_COMBINE_MAX_U64] = {MPI_INT64_T, MPI_MAX},
        [GBS_COMBINE_SUM_F64] = {MPI_DOUBLE, MPI_SUM},
        [GBS_COMBINE_MAX_F64] = {MPI_DOUBLE, MPI_MAX},
    };
    const job *j = context;
    gbs_status status = GBS_OK;
    if (kind == GBS_COMBINE_MAX_U64) {
        turn_highest_bits(values, n);
    }
    for (size_t done = 0; done < n && status >= 0; done += MOST_VALUES) {
        status = checked("MPI_Allreduce",
                         MPI_Allreduce(MPI_IN_PLACE, (uint64_t *)values + done,
                                       part_of(n, done, MOST_VALUES), how[kind].type,
                                       how[kind].operation, j->comm),
                         err);
    }
    if (kind == GBS_COMBINE_MAX_U64) {
        turn_highest_bits(values, n);
    }
    return status;
}

static gbs_status broadcast(void *context, uint32_t from, void *bytes, size_t n, gbs_error *err)
{
    const job *j = context;
    gbs_status status = GBS_OK;
    for (size_t done = 0; done < n && status >= 0; done += MOST_BYTES) {
        status = checked("MPI_Bcast",
                         MPI_Bcast((char *)bytes + done, part_of(n, done, MOST_BYTES), MPI_BYTE,
                                   (int)from, j->comm),
                         err);
    }
    return status;
}

/* Sends the bytes of one rank to rank 0, in pieces. */
static gbs_status collect(const job *j, int from, const char *own, char *all, size_t n,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t done = 0; done < n && status >= 0; done += MOST_BYTES) {
        const int piece = part_of(n, done, MOST_BYTES);
        MPI_Status arrived;
        status =
            j->rank != 0
                ? checked("MPI_Send", MPI_Send(own + done, piece, MPI_BYTE, 0, TAG, j->comm), err)
                : checked("MPI_Recv",
                          MPI_Recv(all + done, piece, MPI_BYTE, from, TAG, j->comm, &arrived), err);
    }
    return status;
}

static gbs_status gather(void *context, const void *own, size_t n, void *all, const size_t *n_of,
                         gbs_error *err)
{
    const job *j = context;
    if (j->rank != 0) {
        return collect(j, j->rank, own, NULL, n, err);
    }
    gbs_status status = GBS_OK;
    char *to = all;
    if (n > 0) {
        memcpy(to, own, n);
    }
    for (int from = 1; from < j->n_ranks && status >= 0; ++from) {
        to += n_of[from - 1];
        status = collect(j, from, NULL, to, n_of[from], err);
    }
    return status;
}

static size_t n_pieces(const gbs_message *message, size_t n)
{
    size_t total = 0;
    for (size_t k = 0; k < n; ++k) {
        total += (message[k].n + MOST_BYTES - 1) / MOST_BYTES;
    }
    return total;
}

/* Starts sending or receiving one message. Pieces between two ranks arrive in the order in which
 * they were sent. */
static gbs_status set_off(job *j, bool sends, const gbs_message *message, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t done = 0; done < message->n && status >= 0; done += MOST_BYTES) {
        char *bytes = (char *)message->bytes + done;
        const int piece = part_of(message->n, done, MOST_BYTES);
        const int other = (int)message->rank;
        MPI_Request *request = &j->request[j->n_requests];
        status =
            sends ? checked("MPI_Isend",
                            MPI_Isend(bytes, piece, MPI_BYTE, other, TAG, j->comm, request), err)
                  : checked("MPI_Irecv",
                            MPI_Irecv(bytes, piece, MPI_BYTE, other, TAG, j->comm, request), err);
        j->n_requests += status >= 0;
    }
    return status;
}

static gbs_status begin(void *context, const gbs_message *out, size_t n_out, const gbs_message *in,
                        size_t n_in, gbs_error *err)
{
    job *j = context;
    if (j->n_requests > 0) {
        return fail(err, GBS_ERR_STATE, "an exchange begins before the last one was finished");
    }
    const size_t n = n_pieces(out, n_out) + n_pieces(in, n_in);
    if (n > INT_MAX) {
        return fail(err, GBS_ERR_LIMIT, "an exchange of %zu messages, at most %d", n, INT_MAX);
    }
    if (n > j->capacity) {
        MPI_Request *request = realloc(j->request, n * sizeof(MPI_Request));
        if (request == NULL) {
            return fail(err, GBS_ERR_MEMORY, "messages between ranks: %zu bytes",
                        n * sizeof(MPI_Request));
        }
        j->request = request;
        j->capacity = n;
    }
    gbs_status status = GBS_OK;
    for (size_t k = 0; k < n_in && status >= 0; ++k) {
        status = set_off(j, false, &in[k], err);
    }
    for (size_t k = 0; k < n_out && status >= 0; ++k) {
        status = set_off(j, true, &out[k], err);
    }
    return status;
}

/* Waits for the requests one by one, because waiting for all at once would need an array of
 * statuses. */
static gbs_status finish(void *context, gbs_error *err)
{
    job *j = context;
    gbs_status status = GBS_OK;
    for (size_t k = 0; k < j->n_requests && status >= 0; ++k) {
        MPI_Status done;
        status = checked("MPI_Wait", MPI_Wait(&j->request[k], &done), err);
    }
    j->n_requests = 0;
    return status;
}

static gbs_status check_threads(gbs_error *err)
{
    int initialised = 0;
    int level = MPI_THREAD_SINGLE;
    (void)MPI_Initialized(&initialised);
    if (!initialised) {
        return fail(err, GBS_ERR_STATE, "MPI is not initialised: call MPI_Init_thread() before");
    }
    (void)MPI_Query_thread(&level);
    return level >= MPI_THREAD_FUNNELED
               ? GBS_OK
               : fail(err, GBS_ERR_STATE,
                      "MPI was initialised for processes of one thread: call MPI_Init_thread() "
                      "with MPI_THREAD_FUNNELED");
}

gbs_status gbs_mpi_ranks(MPI_Comm communicator, gbs_ranks *ranks, gbs_error *err)
{
    if (ranks == NULL) {
        return fail(err, GBS_ERR_ARGUMENT, "gbs_mpi_ranks: ranks is NULL");
    }
    gbs_status status = check_threads(err);
    if (status < 0) {
        return status;
    }
    job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        return fail(err, GBS_ERR_MEMORY, "ranks: %zu bytes", sizeof *j);
    }
    status = checked("MPI_Comm_dup", MPI_Comm_dup(communicator, &j->comm), err);
    if (status < 0) {
        free(j);
        return status;
    }
    (void)MPI_Comm_set_errhandler(j->comm, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(j->comm, &j->rank);
    (void)MPI_Comm_size(j->comm, &j->n_ranks);
    *ranks = (gbs_ranks){.rank = (uint32_t)j->rank,
                         .n_ranks = (uint32_t)j->n_ranks,
                         .context = j,
                         .combine = combine,
                         .broadcast = broadcast,
                         .gather = gather,
                         .begin = begin,
                         .finish = finish};
    return GBS_OK;
}

void gbs_mpi_ranks_free(gbs_ranks *ranks)
{
    if (ranks == NULL || ranks->context == NULL) {
        return;
    }
    job *j = ranks->context;
    (void)MPI_Comm_free(&j->comm);
    free(j->request);
    free(j);
    memset(ranks, 0, sizeof *ranks);
}

void gbs_mpi_abort(const gbs_ranks *ranks, int exit_status)
{
    const job *j = ranks == NULL ? NULL : ranks->context;
    (void)MPI_Abort(j == NULL ? MPI_COMM_WORLD : j->comm, exit_status);
    abort(); /* MPI_Abort() does not return */
}
