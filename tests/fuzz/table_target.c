/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a table of data: states are those of their variables, and read twice they are equal.
 */
#include "fuzz.h"
#include "gibbsite/fit.h"
#include "gibbsite/table.h"

#include <string.h>

enum { VARIABLES = 4 };

static const gbs_model *named_model(void)
{
    static const char text[] = "network n { }\n"
                               "variable a { type discrete [ 2 ] { 0, 1 }; }\n"
                               "variable rain { type discrete [ 3 ] { no, yes, NA }; }\n"
                               "variable wet { type discrete [ 2 ] { false, true }; }\n"
                               "variable b.c { type discrete [ 2 ] { -, x }; }\n"
                               "probability ( a ) { table 0.5, 0.5; }\n"
                               "probability ( rain ) { table 0.5, 0.25, 0.25; }\n"
                               "probability ( wet ) { table 0.5, 0.5; }\n"
                               "probability ( b.c ) { table 0.5, 0.5; }\n";
    static gbs_model *model; /* lives as long as the program */
    if (model == NULL) {
        const gbs_read_options options = {.format = "bif"};
        FUZZ_REQUIRE(gbs_model_read_memory("named", text, sizeof text - 1, &options, &model,
                                           NULL) == GBS_OK);
    }
    return model;
}

static void tell(void *context, const char *message)
{
    int *n = context;
    FUZZ_REQUIRE(message[0] != '\0');
    ++*n;
}

/* Sums up all rows. @return a negative status where one is refused. */
static gbs_status read_all(gbs_table *table, uint64_t *sum, gbs_error *err)
{
    uint32_t n = 0;
    int end = 0;
    gbs_status status = GBS_OK;
    const uint32_t *column = gbs_table_columns(table, &n);
    FUZZ_REQUIRE(n > 0 && n <= VARIABLES);
    while (status >= 0 && !end) {
        uint32_t x[VARIABLES];
        double weight = -1.0;
        status = gbs_table_next(table, x, &weight, &end, err);
        for (uint32_t k = 0; status >= 0 && !end && k < n; k++) {
            FUZZ_REQUIRE(x[k] == GBS_UNOBSERVED ||
                         x[k] < gbs_model_arity(named_model(), column[k]));
            FUZZ_REQUIRE(weight >= 0.0 && weight <= GBS_MAX_ROW_WEIGHT);
            *sum = *sum * 31 + x[k];
        }
    }
    return status;
}

static void read_with(const char *path, gbs_table_options options)
{
    gbs_table *table = NULL;
    gbs_error err = {0};
    int n_told = 0;
    options.size = sizeof options;
    options.tell = tell;
    options.context = &n_told;
    gbs_status status = gbs_table_open(named_model(), path, &options, &table, &err);
    FUZZ_REQUIRE((status >= 0) == (table != NULL));
    uint64_t first = 0;
    uint64_t second = 0;
    status = status < 0 ? status : read_all(table, &first, &err);
    FUZZ_REQUIRE(n_told <= 3);
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
    } else {
        gbs_table_rewind(table);
        FUZZ_REQUIRE(read_all(table, &second, &err) == GBS_OK && first == second);
    }
    gbs_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    read_with(path, (gbs_table_options){0});
    read_with(path, (gbs_table_options){.numbers = 1, .weights = "w"});
    read_with(path, (gbs_table_options){.strict = 1, .complete = 1});
    return 0;
}
