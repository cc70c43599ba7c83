/* SPDX-License-Identifier: Apache-2.0 */
/* Members that every .npz archive of this program contains in addition to the results. */
#ifndef GIBBSITE_CLI_ARCHIVES_H
#define GIBBSITE_CLI_ARCHIVES_H

#include "kept_draws.h"
#include "src/files/arrays/arrays.h"

/* Adds the members card and variable, which hold the variables' numbers of states and ids. */
gbs_status cli_add_variables(gbsi_npz_writer *writer, const gbs_model *model,
                             const cli_selection *selection, gbs_error *err);

/* Adds the member meta, a JSON text in UTF-8 about model, run and names. */
gbs_status cli_add_meta(gbsi_npz_writer *writer, const char *schema, const cli_job *job,
                        const cli_selection *selection, gbs_error *err);

#endif
