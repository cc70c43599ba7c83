/* SPDX-License-Identifier: Apache-2.0 */
/* In place of netcdf.c where the build found no libnetcdf. */
#include "draws.h"

int cli_netcdf_check(void)
{
    return cli_error(CLI_USAGE, "this build cannot write NetCDF: install libnetcdf-dev and build "
                                "with 'meson configure build -Dnetcdf=enabled', or use "
                                "--format npz");
}

gbs_status cli_draws_netcdf(const cli_draws *draws, const char *path, gbs_error *err)
{
    (void)draws;
    return cli_reason(err, GBS_ERR_UNSUPPORTED, "%s: this build cannot write NetCDF", path);
}
