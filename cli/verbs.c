/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs: what each is called, takes and does. */
#include "cli.h"

const cli_verb cli_verbs[] = {
    {"info", CLI_VERB_INFO, 1, "MODEL", "what a model is, before anything is sampled",
     "Prints sizes, kinds of factors, components, colours, whether exact inference\n"
     "fits, influences and the memory of a run.\n",
     "gibbsite info examples/sprinkler.bif\n"
     "gibbsite info examples/sprinkler.bif -e grass=wet --json\n",
     cli_info},
    {"marginals", CLI_VERB_MARGINALS, 1, "MODEL", "marginal distributions, with Monte Carlo errors",
     "Writes CSV (variable,state,probability,mcse,ess,rhat) to standard output;\n"
     "-o FILE.MAR, FILE.csv, FILE.json or FILE.npz, with .gz or .zst if wanted, to a\n"
     "file; with --picture, FILE.png, .pgm, .ppm or .pbm. Components that are small\n"
     "enough are answered exactly, unless an option is given that only a sampled run\n"
     "can honour.\n",
     "gibbsite marginals examples/sprinkler.bif -e grass=wet\n"
     "gibbsite marginals examples/clinic.bif --method sample --target-error 0.004\n"
     "gibbsite generate potts --grid 24x32 --states 3 --noise 0.8 -o patches.uai\n"
     "gibbsite marginals patches.uai --picture 24x32 --sweeps 200 -o patches.ppm\n",
     cli_marginals},
    {"sample", CLI_VERB_SAMPLE, 1, "MODEL", "joint samples, one per sweep and chain",
     "Writes CSV: chain,draw,lp and the 0-based state of every variable. 1000 sweeps\n"
     "per chain are kept unless --sweeps or --target-error says otherwise. Always\n"
     "sampled, never exact. -o FILE.npz, FILE.npy or FILE.nc writes arrays, FILE.tab\n"
     "data as libDAI has it, --format cmdstan FILE_1.csv, FILE_2.csv and so on,\n"
     "--format coda FILEindex.txt and the chains.\n",
     "gibbsite sample examples/sprinkler.bif --sweeps 5 --chains 2 --seed 3\n"
     "gibbsite sample examples/sprinkler.bif --monitor rain,2 -o draws.npz\n",
     cli_sample},
    {"exact", CLI_VERB_EXACT, 1, "MODEL", "exact answers by junction tree",
     "Marginals as CSV (or .MAR, .json, .npz), log10 of the partition function, the\n"
     "most probable state, or independent samples as sample writes them. Tables that\n"
     "would exceed --memory-limit are refused, with the figure that info tells too.\n",
     "gibbsite exact examples/sprinkler.bif -e grass=wet\n"
     "gibbsite exact examples/sprinkler.bif -e grass=wet --task pr\n"
     "gibbsite exact examples/sprinkler.bif --task map -o sprinkler.MAP\n"
     "gibbsite exact examples/sprinkler.bif --task sample --samples 5\n",
     cli_exact},
    {"map", CLI_VERB_MAP, 1, "MODEL", "the most probable state found, by annealing",
     "Writes CSV (variable,state) to standard output, -o FILE.MAP the form of the UAI\n"
     "competitions. Components that are small enough are solved exactly. The others\n"
     "are annealed: schedules of 64, 256, 1024, ... sweeps until one finds nothing\n"
     "better, or one of --sweeps.\n",
     "gibbsite map examples/sprinkler.bif -e grass=wet\n"
     "gibbsite generate ising --grid 30x30 --coupling-spread 2 -o glass.uai\n"
     "gibbsite map glass.uai --sweeps 300 -o glass.MAP\n",
     cli_map},
    {"logz", CLI_VERB_LOGZ, 1, "MODEL", "the log partition function, estimated",
     "Writes log10 Z as a .PR file has it, and ln Z with its standard error, interval\n"
     "and a lower bound to standard error; --format json for all of it. Components\n"
     "that are small enough are summed exactly. The others are found by annealed\n"
     "importance sampling: 256, 1024, 4096, ... temperatures until the standard error\n"
     "of ln Z is at most --target-error (unset: 0.05), or --sweeps of them.\n",
     "gibbsite logz examples/sprinkler.bif -e grass=wet\n"
     "gibbsite generate ising --grid 24x24 --coupling 0.3 -o ising.gbm\n"
     "gibbsite logz ising.gbm --method sample --sweeps 2000\n",
     cli_logz},
    {"certify", CLI_VERB_CERTIFY, 1, "MODEL", "how wrong a scan can still be after so many updates",
     "Bounds on total variation from any start, and the passes that suffice, of the\n"
     "chromatic, the systematic and the random scan or that of --scan. No certificate\n"
     "is an answer, not a failure.\n",
     "gibbsite generate ising --grid 8x8 --coupling 0.2 -o spins.uai\n"
     "gibbsite certify spins.uai --target 0 --accuracy 0.01\n"
     "gibbsite certify spins.uai --scan systematic --steps 64,128,256 --json\n",
     cli_certify},
    {"scan", CLI_VERB_SCAN, 1, "MODEL", "a scan made for what is asked of it",
     "Writes a scan file for --scan with a small Dobrushin variation of the target:\n"
     "the bound that certify tells. Coordinate descent from the systematic scan\n"
     "(Mitliagkas and Mackey 2017).\n",
     "gibbsite generate ising --grid 30x30 --coupling 0.2 -o grid.uai\n"
     "gibbsite scan grid.uai --target 0 --match systematic:1800 -o one.scan\n"
     "gibbsite certify grid.uai --scan one.scan --target 0\n",
     cli_scan},
    {"generate ising", CLI_VERB_ISING, 0, "", "spins on a grid of two or three dimensions",
     "p(s) is proportional to exp(sum of J_ij s_i s_j + sum of h_i s_i), s = -1, +1.\n",
     "gibbsite generate ising --grid 8x8 --torus --coupling 0.4 --format uai\n", cli_generate},
    {"generate potts", CLI_VERB_POTTS, 0, "", "a noisy picture in patches of K grey levels",
     "p(x) is proportional to exp(J times the equal neighbours + the data term).\n",
     "gibbsite generate potts --grid 6x6 --states 3 --noise 0.8 --format uai\n", cli_generate},
    {"generate ring", CLI_VERB_RING, 0, "", "spins on a ring", "",
     "gibbsite generate ring --variables 10 --coupling 0.5 --format uai\n", cli_generate},
    {"generate complete", CLI_VERB_COMPLETE, 0, "", "spins all coupled to one another", "",
     "gibbsite generate complete --variables 8 --coupling 0.1 --format uai\n", cli_generate},
    {"generate regular", CLI_VERB_REGULAR, 0, "", "spins on a random regular graph",
     "No coupling of a variable with itself and none twice.\n",
     "gibbsite generate regular --variables 20 --degree 3 --format uai\n", cli_generate},
    {"generate powerlaw", CLI_VERB_POWERLAW, 0, "", "spins on a graph of preferential attachment",
     "The first M + 1 variables are all joined; each new one is then joined to M of\n"
     "those before it, drawn in proportion to their degrees (Barabasi and Albert).\n",
     "gibbsite generate powerlaw --variables 20 --edges 2 --format uai\n", cli_generate},
    {"generate rbm", CLI_VERB_RBM, 0, "", "spins in two layers: a restricted Boltzmann machine",
     "Every visible variable is coupled to every hidden one. Visible ones come first.\n",
     "gibbsite generate rbm --visible 8 --hidden 4 --coupling 0.2 --format uai\n", cli_generate},
    {"generate bayes", CLI_VERB_BAYES, 0, "", "a random Bayesian network", "",
     "gibbsite generate bayes --variables 12 --parents 2 --states 2:3 --format bif\n",
     cli_generate},
    {"compare", CLI_VERB_COMPARE, 2, "A B", "how far two results of one task are apart",
     "Two UAI results: marginals (.MAR), partition functions (.PR) or most probable\n"
     "states (.MAP, .MPE, .MMAP). Like diff: exit status 0 if nothing differs by more\n"
     "than --tolerance, 1 if something does.\n",
     "gibbsite marginals examples/sprinkler.bif -o exact.MAR\n"
     "gibbsite marginals examples/sprinkler.bif --method sample -o sampled.MAR\n"
     "gibbsite compare exact.MAR sampled.MAR --tolerance 0.02\n",
     cli_compare},
    {"decompose", CLI_VERB_DECOMPOSE, 1, "MODEL",
     "the errors of draws on a small model, taken apart",
     "For one variable, the components of Yamashita and Suzuki (2019): how far joint\n"
     "frequencies are off, and how much of it is due to herding itself, to weights\n"
     "that serve several states, and to the other variables. Writes CSV (focus,\n"
     "sweeps,component,mean,standard_error,min,max) after 1, 2, 4, ... sweeps (65536\n"
     "unless --sweeps says otherwise), or with --asymptotic key,state,p,t,distance,\n"
     "part.\n",
     "gibbsite decompose examples/sprinkler.bif --focus rain --sweeps 1024\n"
     "gibbsite decompose examples/sprinkler.bif --focus rain --asymptotic\n",
     cli_decompose},
    {"reproduce", CLI_VERB_REPRODUCE, -1, "NAME",
     "an experiment of the literature, its claim checked",
     "Writes tables (CSV), charts (SVG) and verdict.txt into a folder and says what\n"
     "was claimed, what was measured and whether it holds. Exit status 0 whatever\n"
     "comes out, unless --check is given.\n",
     "gibbsite reproduce --list\n"
     "gibbsite reproduce hg-two-variables --quick -o two\n",
     cli_reproduce},
    {"convert", CLI_VERB_CONVERT, 1, "MODEL", "between model formats",
     "Formats are those of gibbsite-formats(5); what the one written cannot hold is\n"
     "told on standard error. dimmwitted and dimmwitted-tsv are several files: -o\n"
     "names the .meta file.\n",
     "gibbsite convert examples/sprinkler.bif --format uai\n", cli_convert},
    {"uai", CLI_VERB_UAI, 4, "MODEL EVID QUERY TASK", "the call of the UAI competitions",
     "TASK is PR, MAR, MAP, MPE or MMAP; the answer goes to MODEL.TASK in the working\n"
     "folder. QUERY is read for MMAP alone. INF_TIME (CPU seconds) and INF_MEMORY\n"
     "(GiB) in the environment are limits, at which the status is 0 as well.\n",
     "gibbsite generate ring --variables 3 --format uai -o ring.uai\n"
     "gibbsite uai ring.uai /dev/null - PR\n",
     cli_uai},
};
const size_t cli_n_verbs = sizeof cli_verbs / sizeof cli_verbs[0];
