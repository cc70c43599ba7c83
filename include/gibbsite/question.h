/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Questions, and the options of each by name.
 *
 *     const gbs_question *question = gbs_question_find("learn rbm");
 *     gbs_rbm_options options;
 *     gbs_question_init(question, &options, sizeof options, &err);
 *     gbs_question_set(question, &options, "hidden", "8", &err);
 *
 * A question corresponds to a verb of the command line. It has a struct of options, and a table
 * questions/NAME.def that gives the type, default, range, unit and help of each option. The command
 * line and the Python module take the same options under the same names.
 *
 * The defaults are the same as on the command line. A struct set to zeros also means the defaults,
 * except for fields where 0 is a legal value, such as a penalty.
 *
 * Threads: every call may be made from any thread. Errors: if a question or option does not exist,
 * calls return NULL, 0 or GBS_ERR_ARGUMENT, as stated.
 */
#ifndef GIBBSITE_QUESTION_H
#define GIBBSITE_QUESTION_H

#include "gibbsite/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A question; static. */
typedef struct gbs_question gbs_question;

/** @return the number of questions that have options by name. */
GBS_API size_t gbs_question_count(void);
/** @return the question with a 0-based index; NULL beyond the last. */
GBS_API const gbs_question *gbs_question_at(size_t index);
/** @return the question with a name such as "learn rbm"; '_' may be written for ' ' in the name;
 * NULL if no question has this name. */
GBS_API const gbs_question *gbs_question_find(const char *name);

GBS_API const char *gbs_question_name(const gbs_question *question);
/** @return the size of the question's struct of options, in bytes. */
GBS_API size_t gbs_question_size(const gbs_question *question);
/** @return the number of options of a question. */
GBS_API size_t gbs_question_n_options(const gbs_question *question);
/** @return the option with a 0-based index, in the order of the help; NULL beyond the last. */
GBS_API const gbs_option *gbs_question_option(const gbs_question *question, size_t index);
/** @return the option with this name; '_' may be written for '-' in the name; NULL if the question
 * has no such option. */
GBS_API const gbs_option *gbs_question_find_option(const gbs_question *question, const char *name);

/**
 * Set every option to its default, and every other byte of the struct to 0.
 *
 * @param options out: a struct of the question's type.
 * @param size    sizeof of the options struct with which the caller's program was compiled.
 * @return GBS_ERR_ARGUMENT unless size is gbs_question_size() or larger.
 */
GBS_API GBS_MUST_USE gbs_status gbs_question_init(const gbs_question *question, void *options,
                                                  size_t size, gbs_error *err);
/**
 * Set an option from text, as gbs_option_set() does. For an option of kind TEXT only the pointer is
 * stored: the caller must keep the text as long as options is in use. "" sets the pointer to NULL,
 * which means unset.
 *
 * @return GBS_ERR_ARGUMENT for an option that the question does not have, for text that the option
 *         does not take and for a number out of range, with options untouched; the message names
 *         the option.
 */
GBS_API GBS_MUST_USE gbs_status gbs_question_set(const gbs_question *question, void *options,
                                                 const char *name, const char *text,
                                                 gbs_error *err);
/** Write an option as text that gbs_question_set() takes. @param text [size], out; 64 bytes are
 * always enough, except for an option of kind TEXT, which needs the length of its text plus 1 and
 * is "" if unset.
 *  @return GBS_ERR_ARGUMENT for an option that the question does not have, or if size is too small.
 */
GBS_API GBS_MUST_USE gbs_status gbs_question_get(const gbs_question *question, const void *options,
                                                 const char *name, char *text, size_t size,
                                                 gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
