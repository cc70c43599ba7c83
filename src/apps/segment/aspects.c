/* SPDX-License-Identifier: Apache-2.0 */
/* The aspect model of patches: the probabilities of a patch's words given its class [M68]. */
#include "segment/aspects.h"

#include "base/memory.h"
#include "simd/math.h"

/* Dirichlet prior: this number of patches is added to every class and every word. */
#define PRIOR 0.1

void gbsi_aspects_words(const gbs_aspects *aspects, const gbsi_view *view, const gbsi_grid *grid,
                        size_t patch, uint32_t *word)
{
    float texture[GBSI_TEXTURE];
    float color[GBSI_COLOR];
    gbsi_describe_texture(view, grid, patch, texture);
    gbsi_describe_color(view, grid, patch, color);
    word[GBSI_WORD_TEXTURE] = gbsi_vocabulary_word(&aspects->texture, texture);
    word[GBSI_WORD_COLOR] = gbsi_vocabulary_word(&aspects->color, color);
    word[GBSI_WORD_PLACE] = gbsi_describe_place(grid, patch, aspects->cells);
}

uint64_t gbsi_aspects_work(const gbs_aspects *aspects)
{
    return (uint64_t)aspects->side * aspects->side * 4 +
           (uint64_t)aspects->texture.n * GBSI_TEXTURE / 4 +
           (uint64_t)aspects->color.n * GBSI_COLOR / 4;
}

double gbsi_aspects_joint(const gbs_aspects *aspects, const uint32_t *word, const double *share,
                          double *p)
{
    double sum = 0.0;
    for (uint32_t a = 0; a < aspects->n_classes; a++) {
        p[a] = share[a];
        for (int m = 0; m < GBSI_WORD_KINDS; m++) {
            p[a] *= aspects->n_words[m] > 0
                        ? aspects->beta[m][(size_t)word[m] * aspects->n_classes + a]
                        : 1.0;
        }
        sum += p[a];
    }
    return sum;
}

double gbsi_aspects_expect(const gbs_aspects *aspects, const uint32_t *word, size_t n,
                           const double *share, double *counts, double *const *beta)
{
    const uint32_t k = aspects->n_classes;
    double log_like = 0.0;
    double p[GBS_MAX_CLASSES];
    for (uint32_t a = 0; a < k; a++) {
        counts[a] = 0.0;
    }
    for (size_t i = 0; i < n; i++, word += GBSI_WORD_KINDS) {
        const double sum = gbsi_aspects_joint(aspects, word, share, p);
        log_like += gbsi_log(sum);
        for (uint32_t a = 0; a < k; a++) {
            const double of_class = p[a] / sum;
            counts[a] += of_class;
            for (int m = 0; m < GBSI_WORD_KINDS && beta != NULL; m++) {
                if (aspects->n_words[m] > 0) {
                    beta[m][(size_t)word[m] * k + a] += of_class;
                }
            }
        }
    }
    return log_like;
}

void gbsi_aspects_shares(const double *counts, const uint8_t *allowed, uint32_t n_classes,
                         double *share)
{
    double sum = 0.0;
    for (uint32_t a = 0; a < n_classes; a++) {
        share[a] = allowed == NULL || allowed[a] ? counts[a] + PRIOR : 0.0;
        sum += share[a];
    }
    for (uint32_t a = 0; a < n_classes; a++) {
        share[a] /= sum;
    }
}

double *gbsi_aspects_beta(const gbs_aspects *aspects, int kind)
{
    const size_t n = (size_t)aspects->n_words[kind] * aspects->n_classes;
    double *beta = n == 0 ? NULL : gbsi_alloc_array(n, sizeof *beta);
    for (size_t i = 0; i < n && beta != NULL; i++) {
        beta[i] = PRIOR;
    }
    return beta;
}

void gbs_aspects_free(gbs_aspects *aspects)
{
    if (aspects == NULL) {
        return;
    }
    for (uint32_t a = 0; a < aspects->n_classes && aspects->name != NULL; a++) {
        gbsi_free(aspects->name[a]);
    }
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        gbsi_free(aspects->beta[m]);
    }
    GBSI_FREE(aspects->name, aspects->texture.centre, aspects->color.centre, aspects);
}

uint32_t gbs_aspects_n_classes(const gbs_aspects *aspects)
{
    return aspects == NULL ? 0 : aspects->n_classes;
}

const char *gbs_aspects_class_name(const gbs_aspects *aspects, uint32_t class_number)
{
    return aspects == NULL || class_number >= aspects->n_classes ? NULL
                                                                 : aspects->name[class_number];
}
