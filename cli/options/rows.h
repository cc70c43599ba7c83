/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of include/gibbsite/questions/NAME.def as elements of an array of cli_option:
 *
 *     #define CLI_QUESTION "NAME" // where the question has a struct of options
 *     static const cli_option options[] = {
 *     #include "gibbsite/questions/NAME.def"
 *     };
 */
#ifndef GIBBSITE_CLI_ROWS_H
#define GIBBSITE_CLI_ROWS_H

#include <stddef.h>

#include "arguments.h"

/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): members of an initialiser */
#define CLI_ROW(row_name, row_letter, row_kind, row_field, row_short, row_brief, row_topic, row_needs, ...) \
    {.name = row_name, .letter = row_letter, .kind = CLI_##row_kind,                               \
     .offset = offsetof(cli_arguments, row_field), .short_unit = row_short, .brief = row_brief,    \
     .topic = CLI_TOPIC_##row_topic, .needs = row_needs, __VA_ARGS__},

#define GBS_ROW_TEXT(letter, field, name, row_unit, row_help, short, brief, topic, needs)          \
    CLI_ROW(name, letter, TEXT, field, short, brief, topic, needs, .unit = row_unit, .help = row_help)
#define GBS_ROW_LIST(letter, field, name, row_unit, row_help, short, brief, topic, needs)          \
    CLI_ROW(name, letter, LIST, field, short, brief, topic, needs, .unit = row_unit, .help = row_help)
#define GBS_ROW_WORD(letter, field, name, row_unit, row_help, short, brief, topic, needs)          \
    CLI_ROW(name, letter, NAME, field, short, brief, topic, needs, .unit = row_unit, .help = row_help)
#define GBS_ROW_FLAG(letter, field, name, row_max, row_help, short, brief, topic, needs)           \
    CLI_ROW(name, letter, FLAG, field, short, brief, topic, needs, .max = row_max, .unit = "", .help = row_help)
#define GBS_ROW_CHOICE(field, name, row_unit, row_help, short, brief, topic, needs)                \
    CLI_ROW(name, 0, CHOICE, field, short, brief, topic, needs, .unit = row_unit, .help = row_help)
#define GBS_ROW_COUNT(field, name, row_def, row_min, row_max, row_unit, row_help, short, brief, topic, needs) \
    CLI_ROW(name, 0, UINT, field, short, brief, topic, needs, .def = row_def, .min = row_min,      \
            .max = row_max, .unit = row_unit, .help = row_help)
#define GBS_ROW_REAL(field, name, row_def, row_min, row_max, row_unit, row_help, short, brief, topic, needs) \
    CLI_ROW(name, 0, REAL, field, short, brief, topic, needs, .real_def = row_def,                 \
            .real_min = row_min, .real_max = row_max, .unit = row_unit, .help = row_help)
#define GBS_ROW_RUN(field, name, short, brief, topic, needs)                                       \
    CLI_ROW(name, 0, RUN, run.field, short, brief, topic, needs, .of_run = 1, .unit = "", .help = "")
#define GBS_ROW_RUN_FLAG(field, name, short, brief, topic, needs)                                  \
    CLI_ROW(name, 0, FLAG, run.field, short, brief, topic, needs, .of_run = 1, .max = 1, .unit = "", .help = "")
/* NOLINTEND(bugprone-macro-parentheses) */

/* Options that are fields of the struct of question CLI_QUESTION; the library's table has their
 * ranges and defaults. */
#define CLI_FIELD(row_kind, row_name, row_short, row_brief, row_topic, row_needs)                  \
    {.name = row_name, .kind = CLI_##row_kind, .question = CLI_QUESTION, .short_unit = row_short,  \
     .brief = row_brief, .topic = CLI_TOPIC_##row_topic, .needs = row_needs, .unit = "", .help = ""},
#define GBS_FIELD_ENUM(field, name, type, def, help, short, brief, topic, needs)                   \
    CLI_FIELD(RUN, name, short, brief, topic, needs)
#define GBS_FIELD_COUNT(field, name, def, min, max, unit, help, unset, short, brief, topic, needs) \
    CLI_FIELD(RUN, name, short, brief, topic, needs)
#define GBS_FIELD_REAL GBS_FIELD_COUNT
#define GBS_FIELD_TEXT(field, name, unit, help, short, brief, topic, needs)                        \
    CLI_FIELD(RUN, name, short, brief, topic, needs)
#define GBS_FIELD_FLAG(field, name, help, short, brief, topic, needs)                              \
    CLI_FIELD(FLAG, name, short, brief, topic, needs)
/* These macros ignore rows of options that the program defines in another form. */
#define GBS_BYNAME_ENUM(...)
#define GBS_BYNAME_COUNT(...)
#define GBS_BYNAME_REAL(...)
#define GBS_BYNAME_RUN(...)

#define GBS_MODEL_FORMATS  (cli_model_formats + 1)
#define GBS_SOURCE_FORMATS (cli_source_formats + 1)

/* Members of a cli_verb for the options that the verb takes. */
#define CLI_TAKES(table) .options = table, .n_options = sizeof table / sizeof table[0]
/* clang-format on */

#endif
