// SPDX-License-Identifier: Apache-2.0
// Runs the program in a thread beside the page. A message {compiled, args, files} is answered by {line} for each line of standard error,
// and by {result} or {failure} at the end.
'use strict';
importScripts('gibbsite-web.js', 'gibbsite.js');

onmessage = async ({data: {compiled, args, files}}) => {
  try {
    postMessage({result: await runModule(gibbsite_module, compiled, args, files, line => postMessage({line}))});
  } catch (error) {
    postMessage({failure: String(error)});
  }
};
