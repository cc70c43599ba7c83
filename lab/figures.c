/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the figures. A panel without a title gets the title of a model. */
#include "lab/figures.h"

/* clang-format off */
#define COUNT(type, ...) (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define PANELS(...) .n_panels = COUNT(gbsi_panel, __VA_ARGS__), .panel = (const gbsi_panel[]){__VA_ARGS__}
#define KEYS(...)   .n_keys = COUNT(gbsi_key, __VA_ARGS__), .key = (const gbsi_key[]){__VA_ARGS__}
#define GUIDES(...) .n_guides = COUNT(gbsi_guide, __VA_ARGS__), .guide = (const gbsi_guide[]){__VA_ARGS__}
#define SIZE(width, height) .panel_width = (width), .panel_height = (height)
/* axes */
#define PLAIN(text)              {.label = (text)}
#define PLAIN_IN(text, from, to) {.label = (text), .low = (from), .high = (to)}
#define LOG(text)                {.label = (text), .log = true}
#define LOG_IN(text, from, to)   {.label = (text), .log = true, .low = (from), .high = (to)}
/* guides: lines that show a rate; `y` is the value of the line at one sweep */
#define ROOT(y)    {"1/√T", -0.5, 1.0, (y)}
#define INVERSE(y) {"1/T", -1.0, 1.0, (y)}
/* an entry in the key of bars */
#define BOX(text, color) {(text), (color), GBSI_SOLID, true}

const lab_figure lab_figures[LAB_N_FIGURES] = {

[LAB_HG_TWO_VARIABLES_ERRORS] = {"errors.svg", {
    .title = "Two variables: herded draws err as 1/T, random ones as 1/√T",
    .description = "Four panels, one for each dependence epsilon, with the L1 error of the joint distribution against the "
                   "number of sweeps on logarithmic axes.",
    SIZE(300, 220), .columns = 2,
    PANELS({.x = LOG("sweeps T"), .y = LOG_IN("L1 error of the joint", 1e-6, 10.0), GUIDES(ROOT(1.0), INVERSE(1.0))})}},

[LAB_HG_TWO_VARIABLES_MARGINALS] = {"marginals.svg", {
    .title = "The marginals of two variables have the same rates",
    .description = "Four panels, one for each dependence epsilon, with the L1 error of both marginals against the number of "
                   "sweeps on logarithmic axes.",
    SIZE(300, 220), .columns = 2,
    PANELS({.x = LOG("sweeps T"), .y = LOG_IN("L1 error of the marginals", 1e-6, 10.0), GUIDES(ROOT(1.0), INVERSE(1.0))})}},

[LAB_HG_TWO_VARIABLES_INVERSE] = {"inverse.svg", {
    .title = "One over the error: a straight line for herded draws",
    .description = "Four panels, one for each dependence epsilon, with the inverse of the L1 error of the joint distribution "
                   "against the number of sweeps on plain axes, with the largest error of the last half of the sweeps.",
    SIZE(300, 220), .columns = 2,
    PANELS({.x = PLAIN("sweeps T"), .y = PLAIN("1 / L1 error, thousands")})}},

[LAB_HG_TWO_VARIABLES_ESTIMATES] = {"estimates.svg", {
    .title = "Estimates of a marginal, which is 3/4",
    .description = "Four panels, one for each dependence epsilon, with the estimate of the probability that the first variable "
                   "is 1 against the number of sweeps, on a logarithmic axis of sweeps.",
    SIZE(300, 220), .columns = 2,
    PANELS({.x = LOG("sweeps T"), .y = PLAIN_IN("P(first variable is 1)", 0.0, 1.0),
            .n_guides = 1, .guide = (const gbsi_guide[]){{"exact", 0.0, 1.0, 0.75}}})}},

[LAB_HG_INCOMPLETE_ERRORS] = {"errors.svg", {
    .title = "On a cycle, herding keyed by neighbours converges to a wrong limit",
    .description = "L1 error of the joint distribution against the number of sweeps, on logarithmic axes, for random, herded "
                   "and completely keyed herded draws.",
    SIZE(460, 300), .columns = 1,
    PANELS({.x = LOG("sweeps T"), .y = LOG("L1 error of the joint"), GUIDES(ROOT(1.0), INVERSE(4.0))})}},

[LAB_HG_INCOMPLETE_JOINT] = {"joint.svg", {
    .title = "The wrong limit of herding on a cycle, state by state",
    .description = "Above: bars of the probabilities of the 16 joint states of four variables: exact, and the shares of the sweeps of "
                   "herded and of completely keyed herded draws. Below: how far both are from the exact ones, on a logarithmic axis.",
    SIZE(640, 200), .columns = 1,
    PANELS({.title = "joint states", .y = PLAIN("probability")},
           {.title = "difference from the exact probability", .y = LOG("difference")}),
    KEYS(BOX("exact", GBSI_GREY), BOX("herded", GBSI_VERMILLION), BOX("herded, complete keys", GBSI_GREEN))}},

[LAB_HG_DENOISE_ERRORS] = {"errors.svg", {
    .title = "Herding restores the picture in fewer sweeps, with shared weights in the fewest",
    .description = "Left: bars of the mean squared error of the restored picture after 30 sweeps, by noise and draw. Right: "
                   "the error against the number of sweeps.",
    SIZE(300, 240), .columns = 2,
    PANELS({.title = "after 30 sweeps", .x = PLAIN("noise σ"), .y = PLAIN("mean squared error of P(x = 1)")},
           {.title = "σ = 4", .x = LOG("sweeps"), .y = LOG("mean squared error")})}},

[LAB_HG_DENOISE_PICTURES] = {"pictures.svg", {
    .title = "Probability of 1 by 30 sweeps of each method: black 0, white 1",
    .description = "Seven pictures: the truth, the signs of the noisy values, the means of thirty sweeps with three draws, and "
                   "thirty iterations of mean field with two dampings.",
    SIZE(160, 160), .columns = 4}},

[LAB_WS_SHARING_ERRORS] = {"errors.svg", {
    .title = "The more states share a weight, the faster the error falls, and the sooner it stops",
    .description = "Error of the mean number of spins up against the number of sweeps, on logarithmic axes, for random draws "
                   "and herding with four sets of keys; of P(the last spin is up) with 2 to 128 bins.",
    SIZE(360, 300), .columns = 2,
    PANELS({.x = LOG("sweeps T"), .y = LOG("error of the mean number of spins up"), GUIDES(ROOT(4.0), INVERSE(20.0))},
           {.x = LOG("sweeps T"), .y = LOG("error of P(the last spin is up)"), GUIDES(ROOT(0.5), INVERSE(5.0))})}},

[LAB_WS_COMPONENTS_PARTS] = {"components.svg", {
    .title = "The error of herded draws that remains is D cor and D approx, not D herding",
    .description = "Four panels of error components against the number of sweeps on logarithmic axes: herding on two rings, "
                   "herding with 4 and 64 bins on a complete graph.",
    SIZE(300, 220), .columns = 2,
    PANELS({.x = LOG("sweeps T"), .y = LOG_IN("L1 distance", 1e-6, 10.0)})}},

[LAB_WS_DCOR_LIMITS] = {"dcor.svg", {
    .title = "D cor is predicted key by key, and falls with the number of bins",
    .description = "Left: stacked bars of the estimated limit of D cor by key beside the measured value, for two rings. "
                   "Right: D cor of herding with bins against the number of bins.",
    SIZE(300, 240), .columns = 2,
    PANELS({.title = "two rings: predicted by key, and measured", .x = PLAIN("ring, positive   |   ring, mixed signs"),
            .y = PLAIN("D cor")},
           {.title = "complete graph: D cor by the number of bins", .x = PLAIN_IN("number of bins B", 3.0, 17.0), .y = LOG("D cor")}),
    KEYS(BOX("neighbours 00", GBSI_BLUE), BOX("01", GBSI_ORANGE), BOX("10", GBSI_VERMILLION), BOX("11", GBSI_GREEN),
         BOX("measured with herded draws", GBSI_GREY))}},

[LAB_WS_BEG_COMPONENTS] = {"components.svg", {
    .title = "Bounded-error draws lower D cor; D herding still falls as 1/T, but later",
    .description = "Two panels, D herding and D cor against the number of sweeps on logarithmic axes, for random draws, "
                   "bounded-error Gibbs with two thresholds, and herding.",
    SIZE(300, 240), .columns = 2,
    PANELS({.title = "D herding", .x = LOG("sweeps T"), .y = LOG_IN("L1 distance", 1e-6, 1.0),
            GUIDES(ROOT(1.0), INVERSE(1.0))},
           {.title = "D cor", .x = LOG("sweeps T"), .y = LOG_IN("L1 distance", 1e-3, 1.0), GUIDES(ROOT(3.0))})}},

[LAB_WS_RDHG_COMPONENTS] = {"components.svg", {
    .title = "Random rounding of conditionals removes the bias of bins",
    .description = "Four panels against the number of sweeps: D all of random draws, herding in bins and herding of conditionals "
                   "rounded at random; D approx of bins and D bin of rounding; D herding and D cor of both.",
    SIZE(300, 220), .columns = 2,
    PANELS({.title = "D all", .x = LOG("sweeps T"), .y = LOG("L1 distance"), GUIDES(ROOT(10.0))},
           {.title = "the component that each method adds", .x = LOG("sweeps T"), .y = LOG("L1 distance")},
           {.title = "D herding", .x = LOG("sweeps T"), .y = LOG("L1 distance"), GUIDES(INVERSE(20.0))},
           {.title = "D cor", .x = LOG("sweeps T"), .y = LOG("L1 distance"), GUIDES(ROOT(10.0))})}},

[LAB_WS_RAO_BLACKWELL_ERRORS] = {"errors.svg", {
    .title = "Averaging conditionals (RB) lowers the error, herding lowers it further",
    .description = "Two panels, strong and weak couplings, with the error of one marginal against the number of sweeps for "
                   "random draws and herding in 64 bins, by counting and by averaging conditionals (dashed).",
    SIZE(300, 240), .columns = 2,
    PANELS({.x = LOG("sweeps T"), .y = LOG("error of P(X = 1)")})}},

[LAB_WS_IMAGES_ERRORS] = {"errors.svg", {
    .title = "The fewer herding weights a pixel has, the fewer sweeps the picture needs",
    .description = "Share of wrong pixels against the number of sweeps, on logarithmic axes, for random draws, herding with "
                   "three sets of weights, and chains driven by a whole period of a shift register.",
    SIZE(460, 300), .columns = 1,
    PANELS({.title = "pixels whose mean is on the wrong side of 1/2", .x = LOG("sweeps T"), .y = LOG("share of wrong pixels")})}},

[LAB_WS_IMAGES_PICTURES] = {"pictures.svg", {
    .title = "Probability of 1 by 31 sweeps of each method: black 0, white 1",
    .description = "The truth, the noisy picture, and the means of 31 sweeps with five draws.",
    SIZE(160, 160), .columns = 4}},

[LAB_PGS_RACE_CURVES] = {"curves.svg", {
    .description = "For each model two panels: log density and variance between chains against updates of each variable, a "
                   "line per scan.",
    SIZE(320, 200), .columns = 2,
    PANELS({.title = "log density", .x = LOG("updates of each variable"), .y = LOG("nats below the best seen")},
           {.title = "variance between chains", .x = LOG("updates of each variable"), .y = LOG(NULL)})}},

[LAB_PGS_RACE_WORK] = {"work.svg", {
    .title = "The same runs against the work that they take",
    .description = "For each model three panels: log density and variance between chains against seconds of counted work, a line "
                   "per scan; and the variables that each scan draws in 20 such seconds, a bar per scan.",
    SIZE(250, 200), .columns = 3,
    PANELS({.title = "log density", .x = LOG("seconds of counted work"), .y = LOG("nats below the best seen")},
           {.title = "variance between chains", .x = LOG("seconds of counted work"), .y = LOG(NULL)},
           {.title = "drawn in 20 s", .y = LOG("10⁹ variables")})}},

[LAB_PGS_RACE_TIMES] = {"times.svg", {
    .title = "The same runs against time",
    .description = "For each model four panels: log density and variance between chains against seconds, variables drawn in "
                   "20 seconds and speed-up against threads, a line per scan.",
    SIZE(320, 200), .columns = 2,
    PANELS({.title = "log density", .x = LOG("seconds"), .y = LOG("nats below the best seen")},
           {.title = "variance between chains", .x = LOG("seconds"), .y = LOG(NULL)},
           {.title = "variables drawn in 20 s", .x = LOG("threads"), .y = LOG("10⁹ variables")},
           {.title = "speed-up", .x = LOG("threads"), .y = LOG("times one thread")})}},

[LAB_HG_NER_SCORES] = {"scores.svg", {
    .title = "Herded Gibbs sampling meets the most probable labels sooner than annealing",
    .description = "Left: F1 of the names found against the number of sweeps, for herded and annealed Gibbs sampling, with that "
                   "of the most probable labels. Right: the share of sequences whose most probable labels were met. Above a "
                   "chain over sentences, below a chain over documents with links of equal names.",
    SIZE(300, 240), .columns = 2,
    PANELS({.x = LOG("sweeps"), .y = PLAIN("F1 of entities, per cent")},
           {.x = LOG("sweeps"), .y = PLAIN("share met")})}},

[LAB_PGS_ADAPTATION_LAWS] = {"laws.svg", {
    .title = "Splash growth that adapts to the state for ever has a wrong limit",
    .subtitle = "left and middle: exact, from one state; right: median of 16 chains, six spins",
    .description = "Total variation from the target against steps for growth that adapts for ever, for 128 steps and not at "
                   "all, on two coins and six spins; and the error of a run of this program against sweeps.",
    SIZE(230, 220), .columns = 3,
    PANELS({.title = "two coins", .x = LOG("steps"), .y = LOG_IN("total variation", 1e-6, 1.0)},
           {.title = "six spins, splashes of two", .x = LOG("steps"), .y = LOG_IN("total variation", 1e-6, 1.0)},
           {.title = "a run with --adapt 128", .x = LOG("sweeps T after it ended"), .y = LOG("L1 distance")})}},

[LAB_PGS_ADAPTATION_PICTURES] = {"pictures.svg", {
    .title = "Splashes that grow along strong couplings update the doubtful pixels",
    .subtitle = "splashes of width 5 in colours, what none took in black; updates from black, none, to white, 2.5 times the mean",
    .description = "Nine pictures: the noisy picture; the splashes of one round that took what they met first, and by coupling, "
                   "each with a part enlarged, where pixels between two splashes are seen to belong to none; the state of the "
                   "chain; how often each pixel was updated by splashes that grow by coupling, early in the run and later, and "
                   "by splashes that grow at random.",
    SIZE(200, 200), .columns = 3}},

[LAB_PGS_ADAPTATION_TREES] = {"trees.svg", {
    .title = "The junction tree of a splash, grown variable by variable",
    .subtitle = "\"3: 0 +1\" is the clique of pixel 3 with the separator 0, 1, to which 1 was passed on when the last pixel joined",
    .description = "The variables of the largest separator against the number of variables, for the largest splash that "
                   "took what it met first, and for the largest that grew by coupling. The first sixteen pixels of the former, "
                   "numbered in the order they came; and its junction tree at three steps: the clique that was put in, and the "
                   "cliques on its path to which variables were passed on.",
    SIZE(440, 230), .columns = 2,
    PANELS({.title = "largest separator", .x = LOG("variables"), .y = PLAIN_IN("variables", 0.0, 6.0)}),
    KEYS(BOX("clique that was put in", GBSI_GREEN), BOX("clique that was passed variables", GBSI_ORANGE),
         BOX("clique as it was", GBSI_GREY))}},

[LAB_PGS_SYNCHRONOUS_LAWS] = {"synchronous.svg", {
    .title = "The synchronous sampler is right within a colour, wrong across colours",
    .subtitle = "2 x 3 spins, couplings in [0.3, 0.5]; medians of 16 chains; whiskers of four standard errors",
    .description = "Left: distance of the exact law of the synchronous sampler from the target and from the product of its "
                   "colours' marginals, and of the chromatic sampler from the target, against steps. Middle: the same of "
                   "draws. Right: averages under both laws and in both runs.",
    SIZE(280, 220), .columns = 3,
    PANELS({.title = "exact distribution after each step", .x = PLAIN("steps"), .y = LOG_IN("L1 distance", 1e-6, 2.0)},
           {.title = "distribution of a run's draws", .x = LOG("sweeps"), .y = LOG("L1 distance")},
           {.title = "averages of products of spins", .y = PLAIN("mean")}),
    KEYS({"synchronous, from π(X₁) π(X₂)", GBSI_GREEN, GBSI_SOLID, false},
         {"synchronous, from π", GBSI_VERMILLION, GBSI_SOLID, false},
         {"chromatic, from π", GBSI_BLUE, GBSI_DASHED, false}, BOX("under π", GBSI_INK),
         BOX("chromatic run", GBSI_BLUE), BOX("under π(X₁) π(X₂)", GBSI_GREY), BOX("synchronous run", GBSI_ORANGE))}},

[LAB_DOGS_SCANS_BOUNDS] = {"bounds.svg", {
    .title = "The more the couplings differ, the more an optimised scan gains",
    .subtitle = "10 x 10 spins, all of them asked for; above 1 the bound says nothing. "
                "Optimised: one descent from the systematic scan; iterated: until it settles",
    .description = "Three panels, a model each, with the bound on total variation against the number of updates, on a "
                   "logarithmic axis, for random, systematic, chromatic, optimised and iterated optimised scans.",
    SIZE(250, 260), .columns = 3,
    PANELS({.x = PLAIN("updates"), .y = LOG_IN("bound on total variation", 1e-12, 100.0)},
           {.x = PLAIN("updates"), .y = LOG_IN(NULL, 1e-12, 100.0)},
           {.x = PLAIN("updates"), .y = LOG_IN(NULL, 1e-12, 100.0)})}},

[LAB_DOGS_MILLION_BOUNDS] = {"million.svg", {
    .title = "The marginal of one variable of a million: 16 updates in place of two million",
    .subtitle = "1000 x 1000 spins, fields 0 or 1, couplings in [0, 0.25]; asked for: the "
                "marginal of a corner. Times are of one processor, optimiser included, dashed at the same rate",
    .description = "Left: the bound on the total variation of one marginal against the number of updates for the random, the "
                   "systematic and the optimised scan, the last of which meets what two systematic passes reach after 16 "
                   "updates. Middle: estimates of the marginal by the systematic and the optimised scan against seconds, with "
                   "bands of two standard errors. Right: seconds against the number of draws, the systematic scan's beyond "
                   "those timed as a dashed line.",
    SIZE(260, 250), .columns = 3,
    PANELS({.title = "Bound on the error of one draw", .x = LOG("updates"), .y = LOG_IN("total variation", 1e-6, 1.0)},
           {.title = "The estimate by the clock", .x = LOG("seconds"), .y = PLAIN("P(corner up)")},
           {.title = "Time for draws within that bound", .x = LOG("draws"), .y = LOG_IN("seconds", 0.1, 100000.0)})}},

[LAB_DOGS_MARGINAL_BOUNDS] = {"marginal.svg", {
    .title = "An optimised scan for one marginal updates the variables near it",
    .description = "Left: the bound on total variation of the corner's marginal against the number of updates for three "
                   "scans, the optimised one improved once or again and again. Middle: how often a variable is updated, against its distance from the corner. Right: histogram "
                   "of the distance of estimates from the truth.",
    SIZE(260, 240), .columns = 3,
    PANELS({.title = "Bound for the corner's marginal", .x = LOG("updates"), .y = LOG_IN("total variation", 1e-3, 1.0)},
           {.title = "Where 16000 updates are spent", .x = PLAIN_IN("steps from the corner", 0.0, 40.0),
            .y = PLAIN("updates of each variable")},
           {.title = "Distance of estimates from 1/2", .y = PLAIN("share of the estimates")}),
    KEYS(BOX("random", GBSI_GREY), BOX("systematic", GBSI_BLUE), BOX("optimised", GBSI_VERMILLION))}},

[LAB_DOGS_MARGINAL_BIAS] = {"bias.svg", {
    .title = "An optimised scan brings one marginal to the truth in the first updates",
    .description = "Left: the bound on the bias of one marginal of spins on a torus against the number of updates, for a random, a "
                   "systematic and an optimised scan. Right: the bias that was measured, from the worst start, with whiskers of two "
                   "standard errors.",
    SIZE(320, 260), .columns = 2,
    PANELS({.title = "guaranteed", .x = PLAIN("updates"), .y = LOG("bound on |P(up) - 1/2|")},
           {.title = "measured", .x = PLAIN("updates"), .y = PLAIN("P(up) - 1/2")})}},

[LAB_DOGS_MLE_ERRORS] = {"errors.svg", {
    .title = "Optimised scans come as near to the maximum of likelihood in fewer updates",
    .description = "Two panels with the distance of fitted parameters from the maximum of likelihood against the number of "
                   "updates, on logarithmic axes, for gradients from random, systematic and optimised scans; bands from the "
                   "least to the largest of the replicates.",
    SIZE(320, 260), .columns = 2,
    PANELS({.title = "3 x 3 spins, 21 parameters", .x = LOG("updates"), .y = LOG_IN("distance from the optimum", 0.01, 1.0)},
           {.title = "4 x 4 spins, 40 parameters", .x = LOG("updates"), .y = LOG_IN("distance from the optimum", 0.01, 1.0)})}},

[LAB_DOGS_SEGMENT_ERRORS] = {"errors.svg", {
    .title = "A scan for the middle of a picture cuts it as well, in a fraction of the updates",
    .description = "The share of wrong patches in a rectangle against the number of updates, for a systematic scan of the whole "
                   "picture and a scan optimised for the rectangle, with that of each patch alone.",
    SIZE(420, 280), .columns = 1,
    PANELS({.title = "8 x 12 patches in the middle", .x = LOG("updates"), .y = PLAIN("share of wrong patches")})}},

[LAB_DOGS_SEGMENT_PICTURES] = {"pictures.svg", {
    .title = "Regions of a picture, and the rectangle that is sampled",
    .subtitle = "classes in colours over the picture; the frame is the rectangle",
    .description = "Three pictures: textures in regions under noise; the class of each patch alone; and the classes in the "
                   "rectangle after 30 passes of its own scan.",
    SIZE(320, 213), .columns = 3}},
};
