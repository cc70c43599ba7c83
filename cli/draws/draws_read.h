/* SPDX-License-Identifier: Apache-2.0 */
/* Draws of any program, read from its files. */
#ifndef GIBBSITE_CLI_DRAWS_READ_H
#define GIBBSITE_CLI_DRAWS_READ_H

#include "job/job.h"

typedef struct cli_drawn {
    size_t n_chains, n_draws; /* numbers of chains, and of draws of each chain */
    size_t n, capacity;       /* number of quantities, and capacity of the lists */
    char **name;              /* [n] names of the quantities */
    double **value;           /* [n] values [n_chains][n_draws] of the quantities */
    const char *path;         /* path of the first file */
    uint64_t limit, taken;    /* bytes: --memory-limit (0 if no file is read), and the memory that
                                 counts towards it */
} cli_drawn;

/* Read files by their names: one .npz, .npy or .nc file; or CODA's BASEindex.txt, whose chains are
 * in BASEchain1.txt, BASEchain2.txt, ...; any other name is read as tables by gbs_draws_read().
 * @return CLI_DONE, or an exit status after a message. The caller must call cli_drawn_free() in
 *         either case.
 */
int cli_drawn_read(cli_drawn *d, const cli_arguments *arguments, char **path, int n_paths);
void cli_drawn_free(cli_drawn *d);

/* Whether the name of a file ends in `end`, such as ".nc". */
int cli_ends_in(const char *path, const char *end);

/* ---- for readers ---------------------------------------------------------------------------- */

/* Counts bytes towards --memory-limit before they are allocated. From then on, the library may use
 * only the remaining bytes.
 * @return whether the bytes fit into the limit; otherwise a message was printed. */
int cli_drawn_take(cli_drawn *d, uint64_t bytes);
void cli_drawn_give(cli_drawn *d, uint64_t bytes);

/* Makes room for one more quantity with d->n_chains times d->n_draws values.
 * @param name copied. @return the values of the quantity; NULL after a message. */
double *cli_drawn_add(cli_drawn *d, const char *name);

/* draws_read_text.c */
int cli_drawn_read_csv(cli_drawn *d, const cli_arguments *arguments, char **path, size_t n_paths);
int cli_drawn_read_coda(cli_drawn *d, const char *index);
/* draws_read_arrays.c */
int cli_drawn_read_numpy(cli_drawn *d, const char *path, int archive);
/* Adds the quantities x[0], x[1], ... of an array [chains][draws]...; names count from 0, as in
 * NumPy, except for dimensions with labels.
 * @param label [n_dims][shape of that dimension] or NULL; an element is NULL if the dimension has
 *         no labels. @param at the elements in C order. */
int cli_drawn_add_array(cli_drawn *d, const char *name, const uint64_t *shape, unsigned n_dims,
                        char *const *const *label, double (*at)(const void *data, size_t i),
                        const void *data);
/* draws_read_netcdf.c */
int cli_drawn_read_netcdf(cli_drawn *d, const char *path);

#endif
