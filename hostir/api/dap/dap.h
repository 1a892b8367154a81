// The Debug Adapter Protocol, by which editors drive debuggers: ranks are threads.
//
// `launch` takes `program` (a text or a log), `options` (open_options.h), `stopOnEntry` and
// `stayAtEnd`. Everything that the terminal debugger can do is a line of the editor's console.
#pragma once

#include <istream>
#include <ostream>

namespace hostir::api {

/// Serves one editor until it disconnects or the input ends. `pause`, `disconnect` and `terminate`
/// take effect at once; all other requests are handled in order.
void serve_dap(std::istream& input, std::ostream& output);

}  // namespace hostir::api
