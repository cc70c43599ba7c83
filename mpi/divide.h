/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite-mpi partition: a folder of shares. */
#ifndef GIBBSITE_MPI_DIVIDE_H
#define GIBBSITE_MPI_DIVIDE_H

#include "gibbsite/share.h"

/* The value of an option at word *i, "--name value" or "--name=value"; *i is left at its last word.
 * @return NULL: another word. */
const char *mpi_value_of(const char *name, int argc, char **argv, int *i);
/* "metis" and the like. @return an exit status. */
int mpi_parse_parts(const char *text, gbs_parts *parts);
/* @param argv from the verb's name on. @return an exit status. */
int mpi_partition(int argc, char **argv);

#endif
