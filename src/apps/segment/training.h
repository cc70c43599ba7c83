/* SPDX-License-Identifier: Apache-2.0 */
/* A list of pictures and the classes that each shows. */
#ifndef GBSI_SEGMENT_TRAINING_H
#define GBSI_SEGMENT_TRAINING_H

#include "segment/aspects.h"
#include "text/lines.h"

typedef struct gbsi_training_picture {
    const char *line; /* position in the list file, for messages */
    char *path;       /* owned */
    size_t first;     /* of its patches */
    size_t n;
} gbsi_training_picture;

typedef struct gbsi_training {
    gbsi_input input;
    gbsi_text text;
    size_t n_pictures, picture_capacity;
    gbsi_training_picture *picture;
    uint32_t n_classes;
    gbsi_token *place; /* [n_classes] place where each class is named first */
    size_t name_capacity, place_capacity;
    char **name;    /* [n_classes], in the order in which they come */
    uint8_t *shown; /* [n_pictures][n_classes] 0 or 1 */
} gbsi_training;

/* Read the list, and refuse one that cannot be learnt from. Free it in either case. */
gbs_status gbsi_training_read(const char *path, gbsi_training *training, gbs_error *err);
void gbsi_training_free(gbsi_training *training);

#endif
