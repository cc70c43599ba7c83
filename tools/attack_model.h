/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_ATTACK_MODEL_H
#define GBSI_ATTACK_MODEL_H

/* Runs `model FILE.gbm`: writes the model that standard input describes, see attack_model.c.
 * @return exit status */
int attack_model(int argc, char **argv);

#endif
