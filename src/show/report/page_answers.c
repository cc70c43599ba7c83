/* SPDX-License-Identifier: Apache-2.0 */
/* Writes answers that are not marginals: ln Z, and the most probable state. */
#include <math.h>

#include "report/page.h"

void gbsi_page_log_z(gbsi_page *page, const gbsi_json *z)
{
    gbsi_page_verdict(page, z);
    gbsi_page_put(page, "<dl class=\"figures-in-words\">\n");
    gbsi_page_term(page, "ln Z");
    gbsi_page_number(page, gbsi_page_real(page, z, "log_z"), 9);
    gbsi_page_put(page, "</dd></div>\n");
    gbsi_page_fact_real(page, "Standard error", gbsi_page_real(page, z, "error"));
    if (isfinite(gbsi_page_real(page, z, "low"))) {
        gbsi_page_term(page, "95 % interval");
        gbsi_page_number(page, gbsi_page_real(page, z, "low"), 9);
        gbsi_page_put(page, " to ");
        gbsi_page_number(page, gbsi_page_real(page, z, "high"), 9);
        gbsi_page_put(page, "</dd></div>\n");
    }
    gbsi_page_put(page, "</dl>\n<section>\n<h3>How it was done</h3>\n<dl class=\"facts\">\n");
    gbsi_page_fact_count(page, "Variables neither observed nor implied",
                         gbsi_page_digits(page, z, "free_variables"));
    gbsi_page_fact_count(page, "Variables summed exactly",
                         gbsi_page_digits(page, z, "exact_variables"));
    gbsi_page_fact_count(page, "Chains or ladders", gbsi_page_digits(page, z, "chains"));
    gbsi_page_fact_count(page, "Temperatures", gbsi_page_digits(page, z, "temperatures"));
    gbsi_page_fact_count(page, "Iterations", gbsi_page_digits(page, z, "iterations"));
    gbsi_page_fact_real(page, "Barrier: sum of the rejection rates of swaps",
                        gbsi_page_real(page, z, "barrier"));
    gbsi_page_fact_count(page, "Fewest round trips of a ladder",
                         gbsi_page_digits(page, z, "round_trips"));
    gbsi_page_fact_count(page, "Updates of variables", gbsi_page_digits(page, z, "updates"));
    gbsi_page_fact_real(page, "Seconds", gbsi_page_real(page, z, "seconds"));
    gbsi_page_put(page, "</dl>\n</section>\n");
    gbsi_page_repeat(page, z, gbsi_page_string(page, z, "model"));
}

void gbsi_page_map(gbsi_page *page, const gbsi_json *map)
{
    const bool proved = gbsi_page_is(page, map, "proved");
    gbsi_page_put(page,
                  proved ? "<p class=\"verdict good\"><span class=\"mark\" aria-hidden=\"true\">"
                           "✓</span><strong>Proved.</strong> No state is more probable.</p>\n"
                         : "<p class=\"verdict doubt\"><span class=\"mark\" aria-hidden=\"true\">"
                           "!</span><strong>Not proved.</strong> The best state that was found."
                           "</p>\n");
    gbsi_page_put(page, "<dl class=\"figures-in-words\">\n");
    gbsi_page_fact_real(page, "ln density", gbsi_page_real(page, map, "log_density"));
    gbsi_page_fact_real(page, "Upper bound of ln density",
                        gbsi_page_real(page, map, "upper_bound"));
    gbsi_page_fact_real(page, "Gap", gbsi_page_real(page, map, "gap"));
    gbsi_page_fact_real(page, "ln P(state)", gbsi_page_real(page, map, "log_probability"));
    gbsi_page_fact_real(page, "ln Z", gbsi_page_real(page, map, "log_z"));
    gbsi_page_fact_count(page, "Chains", gbsi_page_digits(page, map, "chains"));
    gbsi_page_fact_count(page, "Sweeps", gbsi_page_digits(page, map, "sweeps"));
    gbsi_page_put(page, "</dl>\n");
    gbsi_page_repeat(page, map, gbsi_page_string(page, map, "model"));
}
