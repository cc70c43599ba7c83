/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_ATTACK_SHARES_H
#define GBSI_ATTACK_SHARES_H

/* Runs gibbsite-mpi partition, or another verb of gibbsite-mpi, on the only rank of a job.
 * @return exit status */
int attack_alone(int argc, char **argv);
/* Runs `seal FILE`: gives a damaged share the checksum of its present content. @return exit
 * status */
int attack_seal(int argc, char **argv);

#endif
