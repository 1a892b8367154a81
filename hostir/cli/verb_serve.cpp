#include <iostream>

#include "hostir/api/serve.h"
#include "hostir/cli/verbs.h"

namespace hostir::cli {

namespace {

class ServeVerb : public Verb {
 public:
  std::string_view name() const override { return "serve"; }
  std::string_view summary() const override {
    return "Serve sessions to another program: JSON-RPC lines on stdin and stdout";
  }
  std::string_view example() const override {
    return "  hostir serve        then a line per request, as in\n"
           "  {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"open\", \"params\": {\"path\": "
           "\"tests/programs/tp_mlp.hir\",\n"
           "   \"options\": {\"example_inputs\": true}}}                  on one line\n"
           "  {\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"command\", \"params\": {\"session\": "
           "1, "
           "\"command\": \"continue\"}}\n"
           "  {\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"tensor\", \"params\": {\"session\": "
           "1, "
           "\"value\": \"%y global\"}}\n"
           "Methods and answers: hostir/api/README.md";
  }
  void declare(Arguments&) override {}
  int execute(Terminal&) override {
    api::serve(std::cin, std::cout);
    return 0;
  }
};

}  // namespace

std::unique_ptr<Verb> make_serve_verb() { return std::make_unique<ServeVerb>(); }

}  // namespace hostir::cli
