// SPDX-License-Identifier: Apache-2.0
// emscripten takes the standard streams for terminals; Node knows which of them are.
Module['onRuntimeInitialized'] = function () {
  for (var fd = 0; fd < 3; fd++) FS.streams[fd].tty = require('tty').isatty(fd);
};
