/* SPDX-License-Identifier: Apache-2.0 */
/* The data and functions that the files of gibbsite denoise share. */
#ifndef GIBBSITE_CLI_VERB_DENOISE_H
#define GIBBSITE_CLI_VERB_DENOISE_H

#include "gibbsite/denoise.h"
#include "gibbsite/image.h"
#include "job/job.h"

typedef struct cli_denoising {
    cli_job job;
    gbs_image noisy, truth; /* noisy picture, and true picture, which is empty without --truth */
    gbs_denoise_options how;
    int find_noise, find_coupling; /* 1: noise_level, or coupling, is estimated */
    int frozen;                    /* 1: the noisy picture decides the level of every pixel */
} cli_denoising;

/* ---- denoise_question.c: @return an exit status, after a message unless it is CLI_DONE ------ */

/* Checks the names of outputs before anything is read. */
int cli_denoise_check_names(const cli_arguments *arguments);
/* Reads the noisy picture and --truth. */
int cli_denoise_read(cli_denoising *d, const cli_arguments *arguments);
/* Sets d->how, find_noise and find_coupling, from the noisy picture and the options. */
int cli_denoise_settle(cli_denoising *d, const cli_arguments *arguments);

#endif
