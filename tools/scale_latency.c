/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the parameters of LogGP (Alexandrov, Ionescu, Schauser & Scheiman 1995, SPAA, 95-105)
 * between two processes, in microseconds, as JSON for tools/scale --measured:
 *
 *     mpirun -n 2 scale_latency > network.json
 *
 * A message of k bytes arrives o + L + (k - 1) G + o after its sender began. A processor spends o
 * on a message at either end, and at least g passes between the beginnings of two messages. Here
 *
 *     o is the time that MPI_Isend() of a byte takes,
 *     L = (round trip of a byte) / 2 - 2 o, not below 0,
 *     g is the time for each of many messages of a byte, one way,
 *     G is the slope of half of the round trip over the bytes, by least squares from 1 KiB to
 *     256 KiB.
 *
 * The output also has P, the time to copy the 16 bytes of a value (a state of 16 chains) from its
 * place among the states into a message or back. P is measured at 2^18 places of 64 MiB, three rows
 * apart. Each figure is the median of many repeats. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 1001, BURST = 256, MOST_BYTES = 1 << 18, FIRST_BYTES = 1 << 10 };

static char buffer[MOST_BYTES];
static double sample[REPEATS];

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int n)
{
    qsort(sample, (size_t)n, sizeof sample[0], ascending);
    return sample[n / 2];
}

/* @return the median of half of a round trip, in microseconds. */
static double half_trip(int rank, int n_bytes)
{
    for (int i = 0; i < REPEATS; i++) {
        const double begin = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(buffer, n_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, n_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, n_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, n_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        sample[i] = 0.5e6 * (MPI_Wtime() - begin);
    }
    return median(REPEATS);
}

/* Measures bursts of messages. @param overhead out: time of one MPI_Isend(). @return the time
 * for each message of a burst. */
static double gap(int rank, double *overhead)
{
    enum { BURSTS = 101 };
    static MPI_Request request[BURST];
    static double spent[BURSTS];
    for (int i = 0; i < BURSTS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (int m = 0; m < BURST; m++) {
            if (rank == 0) {
                MPI_Isend(buffer, 1, MPI_BYTE, 1, m, MPI_COMM_WORLD, &request[m]);
            } else {
                MPI_Irecv(buffer + m, 1, MPI_BYTE, 0, m, MPI_COMM_WORLD, &request[m]);
            }
        }
        spent[i] = 1e6 * (MPI_Wtime() - begin) / BURST;
        MPI_Waitall(BURST, request, MPI_STATUSES_IGNORE);
        if (rank == 0) { /* waits until the last message has arrived */
            MPI_Recv(buffer, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        sample[i] = 1e6 * (MPI_Wtime() - begin) / BURST;
    }
    const double each = median(BURSTS);
    for (int i = 0; i < BURSTS; i++) {
        sample[i] = spent[i];
    }
    *overhead = median(BURSTS);
    return each;
}

/* @return the slope of half trips over bytes. */
static double byte_gap(int rank)
{
    double n = 0;
    double sum_x = 0;
    double sum_y = 0;
    double sum_xx = 0;
    double sum_xy = 0;
    for (int bytes = FIRST_BYTES; bytes <= MOST_BYTES; bytes *= 2) {
        const double x = bytes;
        const double y = half_trip(rank, bytes);
        n += 1;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

/* @return the time for each value copied, in microseconds; negative if there is no memory. */
static double pack_time(void)
{
    enum { PLACES = 1 << 22, VALUES = 1 << 18, APART = 3, VALUE_BYTES = 16, TIMES = 51 };
    char *states = calloc(PLACES, VALUE_BYTES);
    char *message = calloc(VALUES, VALUE_BYTES);
    const int n = states != NULL && message != NULL ? TIMES : 0;
    for (int t = 0; t < n; t++) {
        const double begin = MPI_Wtime();
        for (size_t i = 0; i < VALUES; i++) {
            memcpy(message + i * VALUE_BYTES, states + i * APART * VALUE_BYTES, VALUE_BYTES);
        }
        message[t]++;
        for (size_t i = 0; i < VALUES; i++) {
            memcpy(states + i * APART * VALUE_BYTES, message + i * VALUE_BYTES, VALUE_BYTES);
        }
        sample[t] = 0.5e6 * (MPI_Wtime() - begin) / VALUES;
    }
    const double spent = n > 0 ? median(n) : -1;
    free(states);
    free(message);
    return spent;
}

int main(int argc, char **argv)
{
    int rank = 0;
    int n_ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks != 2) {
        if (rank == 0) {
            fprintf(stderr, "scale_latency: %d processes, expected 2 (mpirun -n 2)\n", n_ranks);
        }
        MPI_Finalize();
        return 1;
    }
    double overhead = 0;
    (void)half_trip(rank, 1); /* warm-up */
    const double half = half_trip(rank, 1);
    const double each = gap(rank, &overhead);
    const double per_byte = byte_gap(rank);
    if (rank == 0) {
        const double pack = pack_time();
        char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(name, &length);
        for (int i = 0; i < length; i++) {
            /* keeps the first line, without characters that JSON forbids */
            if ((unsigned char)name[i] < ' ' || name[i] == '"' || name[i] == '\\') {
                name[i] = '\0';
                break;
            }
        }
        printf("{\"L\":%.4g,\"o\":%.4g,\"g\":%.4g,\"G\":%.4g,\"P\":%.4g,\"half_trip\":%.4g,"
               "\"library\":\"%s\"}\n",
               half > 2 * overhead ? half - 2 * overhead : 0.0, overhead, each, per_byte, pack,
               half, name);
    }
    MPI_Finalize();
    return 0;
}
