/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_TESTS_COUNT_WORK_H
#define GBSI_TESTS_COUNT_WORK_H

#include <stdint.h>

/* The number of branches so far. Its address is NULL in builds that do not count. */
extern uint64_t gbsi_test_work __attribute__((weak));

#endif
