/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the rows of include/gibbsite/questions/NAME.def into rows of an option struct. The macro
 * OPTIONS names the type of the struct. Rows that exist only on the command line have no field in
 * the struct and are left out. */
/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are members of an initialiser */
#define PLACE(member)                                                                              \
    .offset = offsetof(OPTIONS, member), .width = sizeof(((const OPTIONS *)NULL)->member)
#define IS_UNSET(text) (sizeof(text) > 1)
#define UNSET(text) .word = IS_UNSET(text) ? "unset" : NULL, .unset = IS_UNSET(text) ? (text) : NULL

#define GBS_FIELD_ENUM(member, row_name, type, row_def, row_help, short_unit, brief, topic, needs) \
    {.own = {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_CHOICE, .unit = "", \
                       .choices = words_of_##type + 1, .help = row_help, .def = (row_def)},        \
             .choice = choices_of_##type, .n_choices = sizeof choices_of_##type / sizeof choices_of_##type[0], \
             PLACE(member)}, .needed = (needs)},
#define GBS_FIELD_COUNT(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset, short_unit, brief, topic, needs) \
    {.own = {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_COUNT,          \
                       .unit = row_unit, .help = row_help, UNSET(row_unset),                       \
                       .def = (row_def), .min = (row_min), .max = (row_max), .mark = (row_def)},   \
             PLACE(member)}, .needed = (needs)},
#define GBS_FIELD_REAL(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset, short_unit, brief, topic, needs) \
    {.own = {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_REAL,           \
                       .unit = row_unit, .help = row_help, UNSET(row_unset),                       \
                       .real_def = (row_def), .real_min = (row_min), .real_max = (row_max), .real_mark = (row_def)}, \
             PLACE(member)}, .needed = (needs)},
#define GBS_FIELD_TEXT(member, row_name, row_unit, row_help, short_unit, brief, topic, needs)      \
    {.own = {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_TEXT,           \
                       .unit = row_unit, .help = row_help},                                        \
             PLACE(member)}, .needed = (needs)},
#define GBS_FIELD_FLAG(member, row_name, row_help, short_unit, brief, topic, needs)                \
    {.own = {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_FLAG,           \
                       .unit = "", .help = row_help, .max = 1},                                    \
             PLACE(member)}, .needed = (needs)},
/* A field of the struct whose value the command line takes in another form. */
#define GBS_BYNAME_ENUM(member, row_name, type, row_def, row_help)                                 \
    GBS_FIELD_ENUM(member, row_name, type, row_def, row_help, "", "", SCAN, "")
#define GBS_BYNAME_COUNT(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset) \
    GBS_FIELD_COUNT(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset, "", "", SCAN, "")
#define GBS_BYNAME_REAL(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset) \
    GBS_FIELD_REAL(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset, "", "", SCAN, "")
/* An option of the run that is a member of the question's struct; the row of such an option is in
 * options.def. Only the program tests the conditions of such an option, because callers may set
 * seeds and threads for all calls alike. */
#define GBS_BYNAME_RUN(member, row_name) {.run = row_name, .own = {PLACE(member)}, .needed = ""},
#define FIELD_OF_RUN(member, row_name, short_unit, brief, topic, needs) GBS_BYNAME_RUN(member, row_name)
#define NO_FIELD(...)
/* The including file defines RUN_ROW as FIELD_OF_RUN or NO_FIELD. */
#define GBS_ROW_RUN      RUN_ROW
#define GBS_ROW_RUN_FLAG RUN_ROW
/* NOLINTEND(bugprone-macro-parentheses) */

#define GBS_ROW_TEXT(...)
#define GBS_ROW_LIST(...)
#define GBS_ROW_WORD(...)
#define GBS_ROW_FLAG(...)
#define GBS_ROW_CHOICE(...)
#define GBS_ROW_COUNT(...)
#define GBS_ROW_REAL(...)
/* clang-format on */
