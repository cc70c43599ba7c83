/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs: what each is called, takes and does. */
#include "cli.h"

const cli_verb cli_verbs[] = {
    {"info", CLI_VERB_INFO, 1, "MODEL", "sizes and structure of a model, predicted costs",
     "Prints on one screen what the model is, how it would be answered, how long that\n"
     "takes and what memory it needs. -v prints all figures. Of a checkpoint:\n"
     "where the run stands.\n",
     "gibbsite info examples/sprinkler.bif\n"
     "gibbsite info examples/clinic.bif --variables\n"
     "gibbsite info examples/sprinkler.bif -e grass=wet --json\n",
     cli_info},
    {"marginals", CLI_VERB_MARGINALS, 1, "MODEL", "marginal distributions, with Monte Carlo errors",
     "Writes CSV (variable,state,probability,mcse,ess,rhat) to standard output;\n"
     "-o FILE.MAR, FILE.csv, FILE.json or FILE.npz writes a file, compressed if .gz\n"
     "or .zst follows; with --picture, FILE.png, .pgm, .ppm or .pbm. Components that\n"
     "are small enough are answered exactly by default, unless an option is given\n"
     "that has a meaning only for sampling. With --joint, tables of joint states;\n"
     "with --cases, a row of probabilities for each row of a table.\n",
     "gibbsite marginals examples/sprinkler.bif -e grass=wet\n"
     "gibbsite marginals examples/clinic.bif -e fever=yes --joint influenza,cold\n"
     "gibbsite marginals examples/clinic.bif --cases examples/clinic.csv --query 5\n"
     "gibbsite marginals examples/clinic.bif --method sample --target-error 0.004\n"
     "gibbsite generate potts --grid 24x32 --states 3 --noise 0.8 -o patches.uai\n"
     "gibbsite marginals patches.uai --picture 24x32 --sweeps 200 -o patches.ppm\n",
     cli_marginals},
    {"sample", CLI_VERB_SAMPLE, 1, "MODEL", "joint samples, one per sweep and chain",
     "Writes CSV: chain, draw, lp (the log density) and the 0-based state of every\n"
     "variable. By default 1000 sweeps per chain are kept; --sweeps or --target-error\n"
     "changes this. The samples are always from chains, never from exact inference.\n"
     "-o FILE.npz, FILE.npy or FILE.nc writes arrays, FILE.tab the data format of\n"
     "libDAI; --format cmdstan writes FILE_1.csv, FILE_2.csv and so on, --format coda\n"
     "FILEindex.txt and a file for each chain.\n",
     "gibbsite sample examples/sprinkler.bif --sweeps 5 --chains 2 --seed 3\n"
     "gibbsite sample examples/sprinkler.bif --monitor rain,2 -o draws.npz\n",
     cli_sample},
    {"exact", CLI_VERB_EXACT, 1, "MODEL", "exact answers by junction tree",
     "Marginals as CSV (or .MAR, .json, .npz), log10 of the partition function, the\n"
     "most probable state, or independent samples in the formats of sample. If the\n"
     "tables would exceed --memory-limit, the verb ends with an error that names\n"
     "their size; info predicts this size.\n",
     "gibbsite exact examples/sprinkler.bif -e grass=wet\n"
     "gibbsite exact examples/sprinkler.bif -e grass=wet --task pr\n"
     "gibbsite exact examples/sprinkler.bif --task map -o sprinkler.MAP\n"
     "gibbsite exact examples/sprinkler.bif --task sample --samples 5\n",
     cli_exact},
    {"map", CLI_VERB_MAP, 1, "MODEL", "the most probable state found, by annealing",
     "Writes CSV (variable,state) to standard output; -o FILE.MAP writes the format\n"
     "of the UAI competitions. Components that are small enough are solved exactly.\n"
     "The others are annealed with schedules of 64, 128, 256, ... sweeps until one\n"
     "finds no better state, or with one schedule of --sweeps sweeps.\n",
     "gibbsite map examples/sprinkler.bif -e grass=wet\n"
     "gibbsite generate ising --grid 30x30 --coupling-spread 2 -o glass.uai\n"
     "gibbsite map glass.uai --sweeps 300 -o glass.MAP\n",
     cli_map},
    {"logz", CLI_VERB_LOGZ, 1, "MODEL", "the log partition function, estimated",
     "Writes log10 Z in the format of .PR files to standard output, and ln Z with its\n"
     "standard error, interval and lower bound to standard error; --format json\n"
     "writes all of this as the result. Components that are small enough are summed\n"
     "exactly. For the others, chains climb ladders of temperatures until ln Z has a\n"
     "standard error of at most --target-error (unset: 0.05) and the ladders have\n"
     "mixed, or for --sweeps iterations. With --temper off, and for more than 4096\n"
     "variables, annealed importance sampling uses 256, 1024, 4096, ... temperatures,\n"
     "or --sweeps, and gives a lower bound as well.\n",
     "gibbsite logz examples/sprinkler.bif -e grass=wet\n"
     "gibbsite generate ising --grid 24x24 --coupling 0.3 -o ising.gbm\n"
     "gibbsite logz ising.gbm --method sample --sweeps 2000\n",
     cli_logz},
    {"certify", CLI_VERB_CERTIFY, 1, "MODEL", "bounds on the error of a scan after so many updates",
     "Bounds the total variation distance from the target distribution, whatever the\n"
     "start, and finds how many passes suffice for --accuracy: for the chromatic, the\n"
     "systematic and the random scan, or the one given by --scan. A scan without a\n"
     "certificate is a valid result: the exit status is 0.\n",
     "gibbsite generate ising --grid 8x8 --coupling 0.2 -o spins.uai\n"
     "gibbsite certify spins.uai --target 0 --accuracy 0.01\n"
     "gibbsite certify spins.uai --scan systematic --steps 64,128,256 --json\n",
     cli_certify},
    {"scan", CLI_VERB_SCAN, 1, "MODEL", "a scan optimised for some variables",
     "Writes a scan file for --scan. The scan is found by coordinate descent from the\n"
     "systematic scan, so that the Dobrushin variation of the variables in --target,\n"
     "which is the bound that certify prints, is small (Mitliagkas and Mackey 2017).\n",
     "gibbsite generate ising --grid 30x30 --coupling 0.2 -o grid.uai\n"
     "gibbsite scan grid.uai --target 0 --match systematic:1800 -o one.scan\n"
     "gibbsite certify grid.uai --scan one.scan --target 0\n",
     cli_scan},
    {"fit", CLI_VERB_FIT, 2, "NETWORK DATA", "conditional tables of a Bayesian network from data",
     "DATA is a CSV table with a column for each of some variables and a row for each\n"
     "observation; an empty field or NA is a missing value, and so are variables\n"
     "without a column: then EM finds the tables, starting from those of NETWORK.\n"
     "Writes the network with the new tables; the format is that of -o FILE.\n",
     "gibbsite fit examples/sprinkler.bif examples/sprinkler.csv -o fitted.bif\n"
     "gibbsite fit fitted.bif examples/sprinkler.csv --prior bdeu:10 --format uai\n",
     cli_fit},
    {"label", CLI_VERB_LABEL, 2, "MODEL DATA", "labels of tokens by a conditional random field",
     "MODEL is a text model of CRF++ or Wapiti. DATA has a token a line, its columns\n"
     "separated by blanks, and an empty line after each sequence. Writes DATA with\n"
     "the most probable label of each token as one more column. With --truth, says\n"
     "how many labels and entities are right: precision, recall and F1 by class.\n",
     "gibbsite label examples/places.crf examples/places.txt\n"
     "gibbsite label examples/places.crf examples/places.txt --truth 2 -o out.txt\n"
     "gibbsite label examples/places.crf examples/places.txt --posterior best\n",
     cli_label},
    {"learn", CLI_VERB_LEARN, -1, "KIND [TEMPLATES|MODEL] DATA",
     "weights of log-linear models from data",
     "crf: TEMPLATES says which features a token has; DATA has a token a line, its\n"
     "label in the last column. Writes a text model of CRF++ (or Wapiti) for label.\n"
     "weights: the tied weights of MODEL (.gbm, DimmWitted) by pseudo-likelihood,\n"
     "with standard errors. DATA is CSV, a column for each variable. Writes MODEL.\n"
     "potts: a dense Potts model of an alignment (FASTA) or of CSV of states.\n"
     "rbm: a restricted Boltzmann machine of CSV of zeros and ones.\n"
     "aspects: classes for segment, of a list of pictures and what each shows.\n",
     "gibbsite learn crf examples/places.template examples/places.txt -o places.crf\n"
     "gibbsite learn crf examples/places.template examples/places.txt --l1 1 --l2 0\n"
     "gibbsite learn weights examples/friends examples/friends.csv -o friends.gbm\n"
     "gibbsite learn potts examples/bars.csv --method pcd -o bars.gbm\n"
     "gibbsite learn rbm examples/bars.csv --hidden 8 --l2 0 --rate 0.3 -o bars.gbm\n"
     "gibbsite learn aspects examples/ground/list.txt -o ground.aspects\n",
     cli_learn},
    {"ground", CLI_VERB_GROUND, 2, "PROGRAM DATABASE", "Markov logic into a factor graph",
     "PROGRAM has weighted formulas of first-order logic, DATABASE facts, as\n"
     "Alchemy writes them. Atoms of query predicates become variables, named as in\n"
     "PROGRAM; atoms of the others are false unless DATABASE has them. Groundings\n"
     "that DATABASE decides are left out.\n",
     "gibbsite ground examples/smokers.mln examples/smokers.db -o smokers.gbm\n"
     "gibbsite marginals smokers.gbm --query 'Smokes(Bob)'\n",
     cli_ground},
    {"sensitivity", CLI_VERB_SENSITIVITY, 1, "MODEL",
     "how a probability moves with every parameter",
     "For every entry of a conditional table: the derivative of P(X=x | evidence) by\n"
     "the entry t, the rest of its column scaled in proportion, and what P becomes if\n"
     "t moves by 10 per cent. For other tables, weights and likelihoods: by their\n"
     "logarithm or weight. On a terminal the largest derivatives first.\n",
     "gibbsite sensitivity examples/clinic.bif --query cold=yes -e fever=yes\n"
     "gibbsite sensitivity examples/clinic.bif --query influenza=yes -o all.csv\n",
     cli_sensitivity},
    {"generate ising", CLI_VERB_ISING, 0, "", "spins on a grid of two or three dimensions",
     "p(s) is proportional to exp(sum of J_ij s_i s_j + sum of h_i s_i), s = -1, +1.\n",
     "gibbsite generate ising --grid 8x8 --torus --coupling 0.4 --format uai\n", cli_generate},
    {"generate potts", CLI_VERB_POTTS, 0, "", "a noisy picture in patches of K grey levels",
     "p(x) is proportional to exp(J times number of equal neighbours + data term).\n",
     "gibbsite generate potts --grid 6x6 --states 3 --noise 0.8 --format uai\n", cli_generate},
    {"generate ring", CLI_VERB_RING, 0, "", "spins on a ring", "",
     "gibbsite generate ring --variables 10 --coupling 0.5 --format uai\n", cli_generate},
    {"generate complete", CLI_VERB_COMPLETE, 0, "", "spins all coupled to one another", "",
     "gibbsite generate complete --variables 8 --coupling 0.1 --format uai\n", cli_generate},
    {"generate regular", CLI_VERB_REGULAR, 0, "", "spins on a random regular graph",
     "No variable is coupled to itself, and no pair has two couplings.\n",
     "gibbsite generate regular --variables 20 --degree 3 --format uai\n", cli_generate},
    {"generate powerlaw", CLI_VERB_POWERLAW, 0, "", "spins on a graph of preferential attachment",
     "The first M + 1 variables are all joined; each new variable is then joined to M\n"
     "earlier ones, drawn in proportion to their degrees (Barabasi and Albert 1999).\n",
     "gibbsite generate powerlaw --variables 20 --edges 2 --format uai\n", cli_generate},
    {"generate rbm", CLI_VERB_RBM, 0, "", "spins in two layers: a restricted Boltzmann machine",
     "Every visible variable is coupled to every hidden one. Visible variables come\n"
     "first.\n",
     "gibbsite generate rbm --visible 8 --hidden 4 --coupling 0.2 --format uai\n", cli_generate},
    {"generate bayes", CLI_VERB_BAYES, 0, "", "a random Bayesian network", "",
     "gibbsite generate bayes --variables 12 --parents 2 --states 2:3 --format bif\n",
     cli_generate},
    {"denoise", CLI_VERB_DENOISE, 1, "IMAGE", "a noisy picture restored, with its uncertainty",
     "Every pixel is a variable whose states are levels of grey or labels; neighbours\n"
     "resemble one another, and what is seen is disturbed. Noise and coupling that\n"
     "are not given are estimated from the picture. IMAGE is PNG or PNM; -o is the\n"
     "most probable level of each pixel, --map the most probable picture as a whole.\n",
     "gibbsite denoise examples/leaf-noisy.pbm -o clean.png --uncertainty doubt.png\n"
     "gibbsite denoise examples/leaf-noisy.pbm --truth examples/leaf.pbm\n"
     "gibbsite denoise examples/leaf-noisy.pbm --coupling 1 --write-model l.gbm\n",
     cli_denoise},
    {"segment", CLI_VERB_SEGMENT, 2, "CLASSES IMAGE", "a picture cut into regions of known kinds",
     "CLASSES is a file of learn aspects. IMAGE is PNG, JPEG or PNM: each of its\n"
     "patches gets a class, by what it shows and by its neighbours. Prints how many\n"
     "patches have each class; -o is a map of the classes, --overlay the picture in\n"
     "their colours. With --target a rectangle is cut alone, far sooner.\n",
     "gibbsite segment examples/ground.aspects examples/ground.png --overlay o.png\n"
     "gibbsite segment examples/ground.aspects examples/ground.png --target 4x4\n",
     cli_segment},
    {"compare", CLI_VERB_COMPARE, 2, "A B", "differences between two results of the same task",
     "A and B are marginals, partition functions or most probable states, as files of\n"
     "the UAI competitions (.MAR, .PR, .MAP, .MPE, .MMAP), CSV or JSON. Like diff,\n"
     "the exit status is 0 if nothing differs by more than --tolerance, and 1 if\n"
     "something does. Of two states it says which weighs more, where that is known.\n",
     "gibbsite marginals examples/sprinkler.bif -o exact.MAR\n"
     "gibbsite marginals examples/sprinkler.bif --method sample -o sampled.MAR\n"
     "gibbsite compare exact.MAR sampled.MAR --tolerance 0.02\n",
     cli_compare},
    {"diagnose", CLI_VERB_DIAGNOSE, -1, "DRAWS...",
     "have the chains converged? draws of any program",
     "R-hat, effective sample sizes and standard errors of every quantity, as Vehtari\n"
     "et al. (2021) define them. DRAWS is one .npz, .npy or .nc (ArviZ) file, the\n"
     "BASEindex.txt of CODA, or CSV files as of CmdStan, a chain a file. Four chains\n"
     "have converged if R-hat is below 1.01 and ESS above 400; quantities that never\n"
     "change are called constant, which says nothing about convergence.\n",
     "gibbsite sample examples/sprinkler.bif --method sample --sweeps 2k -o d.npz\n"
     "gibbsite diagnose d.npz\n"
     "gibbsite diagnose d.npz --plot ranks.svg --format json\n",
     cli_diagnose},
    {"report", CLI_VERB_REPORT, -1, "SUMMARY...", "a page for a browser from summaries of runs",
     "Makes one page in HTML of files that --summary of other verbs and --format json\n"
     "of logz and map wrote, and of draws (.npz, .npy, .nc, .csv): the verdict,\n"
     "what was asked, marginals, how far chains agree, what repeats the run.\n"
     "Several runs are compared. The page is one file and loads nothing.\n",
     "gibbsite marginals examples/clinic.bif -e fever=yes --summary run.json\n"
     "gibbsite report run.json -o clinic.html\n",
     cli_report},
    {"decompose", CLI_VERB_DECOMPOSE, 1, "MODEL",
     "the errors of draws on a small model, decomposed",
     "Decomposes the error of joint frequencies at one variable, after Yamashita and\n"
     "Suzuki (2019), into the parts due to herding itself, to weights that serve\n"
     "several states, and to the other variables. Writes CSV with the columns focus,\n"
     "sweeps, component, mean, standard_error, min, max after 1, 2, 4, ... sweeps (up\n"
     "to 65536 or --sweeps); with --asymptotic the columns are key, state, p, t,\n"
     "distance, part.\n",
     "gibbsite decompose examples/sprinkler.bif --focus rain --sweeps 1024\n"
     "gibbsite decompose examples/sprinkler.bif --focus rain --asymptotic\n",
     cli_decompose},
    {"reproduce", CLI_VERB_REPRODUCE, -1, "NAME", "repeat an experiment of the literature",
     "Writes tables (CSV), charts (SVG) and verdict.txt into a folder, and prints\n"
     "what was claimed, what was measured and whether the claim holds. Without\n"
     "--check, the exit status is 0 even if it does not. The name all stands for all\n"
     "experiments.\n",
     "gibbsite reproduce --list\n"
     "gibbsite reproduce hg-two-variables --quick -o two\n",
     cli_reproduce},
    {"convert", CLI_VERB_CONVERT, 1, "MODEL", "convert a model to another format",
     "gibbsite-formats(5) lists the formats. Warnings on standard error name what the\n"
     "format written cannot hold. dimmwitted and dimmwitted-tsv consist of several\n"
     "files: -o names the .meta file.\n",
     "gibbsite convert examples/sprinkler.bif --format uai\n", cli_convert},
    {"uai", CLI_VERB_UAI, 4, "MODEL EVID QUERY TASK", "command line of the UAI competitions",
     "TASK is PR, MAR, MAP, MPE or MMAP; the answer goes to MODEL.TASK in the working\n"
     "folder. QUERY is read only for MMAP. The environment variables INF_TIME (CPU\n"
     "seconds) and INF_MEMORY (GiB) are limits; a run that they end has exit status 0\n"
     "too.\n",
     "gibbsite generate ring --variables 3 --format uai -o ring.uai\n"
     "gibbsite uai ring.uai /dev/null - PR\n",
     cli_uai},
    {"completion", CLI_VERB_COMPLETION, 1, "SHELL", "completion of verbs and options for a shell",
     "SHELL is bash, zsh or fish; the script goes to standard output. In bash, type\n"
     "source <(gibbsite completion bash), or put this line into ~/.bashrc; in zsh\n"
     "the same with zsh; in fish, gibbsite completion fish | source.\n",
     "gibbsite completion bash\n", cli_completion},
};
const size_t cli_n_verbs = sizeof cli_verbs / sizeof cli_verbs[0];
