/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/registry.h"

#include <assert.h>

/* The scans indexed by gbs_scan_kind, from the rows of scans.def. */
const gbsi_scan *const gbsi_scans[] = {
#define GBS_SCAN(number, SYMBOL, table, name, help) [number] = &gbsi_scan_##table,
#include "gibbsite/scans.def"
#undef GBS_SCAN
};
const size_t gbsi_n_scans = sizeof gbsi_scans / sizeof gbsi_scans[0];

gbsi_scan_choice gbsi_scan_choice_of(int scan_kind)
{
    return scan_kind == GBS_SCAN_AUTO    ? GBSI_CHOICE_TRIED
           : scan_kind == GBS_SCAN_USUAL ? GBSI_CHOICE_BY_NEED
                                         : GBSI_CHOICE_NAMED;
}

unsigned gbsi_scan_traits(int scan_kind)
{
    const gbsi_scan *scan = gbsi_scan_of(scan_kind);
    return scan == NULL ? 0 : scan->traits;
}

const char *const *gbsi_scan_options(int scan_kind)
{
    const gbsi_scan *scan = gbsi_scan_of(scan_kind);
    return scan == NULL ? NULL : scan->options;
}

int gbsi_scan_with(unsigned traits)
{
    int kind = 0;
    while ((gbsi_scan_traits(kind) & traits) != traits) {
        ++kind;
        assert((size_t)kind < gbsi_n_scans);
    }
    return kind;
}

const char *gbsi_scan_base_name(void)
{
    return gbsi_scan_of(gbsi_scan_with(GBSI_SCAN_BASE))->name;
}

const gbsi_scan *gbsi_scan_of(int scan_kind)
{
    return scan_kind >= 0 && (size_t)scan_kind < gbsi_n_scans ? gbsi_scans[scan_kind] : NULL;
}
