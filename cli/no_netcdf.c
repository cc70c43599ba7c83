/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the files that write NetCDF where the build found no libnetcdf. */
#include "marginals.h"

int cli_netcdf_built_in(void)
{
    return 0;
}

static gbs_status refuse(const char *path, gbs_error *err)
{
    return cli_reason(err, GBS_ERR_UNSUPPORTED, "%s: this build cannot write NetCDF", path);
}

gbs_status cli_draws_netcdf(const cli_draws *draws, const char *path, gbs_error *err)
{
    (void)draws;
    return refuse(path, err);
}

int cli_marginals_netcdf_fit(const cli_job *job, const cli_selection *selection)
{
    (void)job;
    (void)selection;
    return CLI_DONE;
}

gbs_status cli_marginals_netcdf(const cli_job *job, const char *path, const cli_estimates *e,
                                gbs_error *err)
{
    (void)job;
    (void)e;
    return refuse(path, err);
}
