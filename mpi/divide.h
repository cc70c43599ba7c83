/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite-mpi partition: a folder of shares. */
#ifndef GIBBSITE_MPI_DIVIDE_H
#define GIBBSITE_MPI_DIVIDE_H

#include "gibbsite/share.h"

/* Finds the value of an option at word *i, written "--name value" or "--name=value", and sets *i to
 * the last word of the option. @return NULL if the word is not this option. */
const char *mpi_value_of(const char *name, int argc, char **argv, int *i);
/* Reads a way of dividing, such as "metis". @return an exit status. */
int mpi_parse_parts(const char *text, gbs_parts *parts);
/* @param argv words from the name of the verb on. @return an exit status. */
int mpi_partition(int argc, char **argv);

#endif
