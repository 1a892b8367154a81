#include <iostream>

#include "hostir/api/dap/dap.h"
#include "hostir/api/serve/serve.h"
#include "hostir/cli/verbs/verbs.h"

namespace hostir::cli {

namespace {

class ServeVerb : public Verb {
 public:
  std::string_view name() const override { return "serve"; }
  std::string_view summary() const override {
    return "Serve sessions to a program (JSON-RPC) or an editor (--dap) on stdin and stdout";
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
           "Methods and answers: hostir/api/README.md\n"
           "  hostir serve --dap  what an editor starts to debug programs; hostir/api/EDITORS.md "
           "says how";
  }
  void declare(Arguments& arguments) override {
    arguments.flag("--dap", dap_, "speak the Debug Adapter Protocol, as editors do");
  }
  int execute(Terminal&) override {
    std::ios::sync_with_stdio(false);  // else every character of a request is read by itself
    std::cin.tie(nullptr);             // else the reading thread flushes what the other one writes
    if (dap_)
      api::serve_dap(std::cin, std::cout);
    else
      api::serve(std::cin, std::cout);
    return 0;
  }

 private:
  bool dap_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_serve_verb() { return std::make_unique<ServeVerb>(); }

}  // namespace hostir::cli
