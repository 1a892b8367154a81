#include "hostir/import/hlo/hlo_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "hostir/import/hlo/hlo_attributes.h"
#include "hostir/import/rewrite/tile_sharding.h"

namespace hostir::importer {

namespace {

constexpr int kMaxNestedComputations = 64;
constexpr int64_t kMaxConvertedOps = 4'000'000;

// Opcodes with a different name in StableHLO. For all others, dashes become underscores.
const std::unordered_map<std::string_view, std::string_view>& renamed_opcodes() {
  static const std::unordered_map<std::string_view, std::string_view> kNames = {
      {"round-nearest-afz", "stablehlo.round_nearest_afz"},
      {"erf", "chlo.erf"},
      {"is-finite", "stablehlo.is_finite"},
      {"broadcast", "stablehlo.broadcast_in_dim"},
      {"dot", "stablehlo.dot_general"},
      {"fusion", "func.call"},
      {"call", "func.call"},
      {"async-start", "func.call"},
      {"bitcast", "hlo.bitcast"},
      {"conditional", "stablehlo.case"},
      {"topk", "chlo.top_k"},
      {"log-plus-one", "stablehlo.log_plus_one"},
  };
  return kNames;
}

bool passes_through(std::string_view opcode) {
  return opcode == "copy" || opcode == "copy-start" || opcode == "copy-done" ||
         opcode == "optimization-barrier" || opcode == "domain" || opcode == "add-dependency";
}

using Leaves = std::vector<ValueNumber>;

class Converter {
 public:
  explicit Converter(const HloText& text) : text_(text) {}

  Expected<HloModule> convert() {
    HloModule out;
    out.module.name = text_.name;
    const auto partitions = integers_in(text_.attribute("num_partitions"));
    if (!partitions.empty()) out.entry.partitions = partitions.front();
    if (out.entry.partitions < 1 || out.entry.partitions > Mesh::kMaxPositions) {
      return fail(ErrorKind::kInvalid, "import_c8",
                  fmt::format("num_partitions={}: only modules for 1 to {} devices can be imported",
                              out.entry.partitions, Mesh::kMaxPositions));
    }
    partitions_ = out.entry.partitions;
    const auto replicas = integers_in(text_.attribute("replica_count"));
    if (!replicas.empty() && replicas.front() != 1) {
      return fail(ErrorKind::kInvalid, "import_c8",
                  fmt::format("replica_count={}: the text does not say what each replica gets; "
                              "compile for one replica of {} partitions",
                              replicas.front(), replicas.front() * partitions_));
    }
    const HloComputation& entry = *text_.entry();
    const bool annotated =
        text_.attribute("frontend_attributes").find("sdy.meshes") != std::string_view::npos;
    if (annotated && text_.attribute("is_scheduled").empty()) {
      return fail_at(ErrorKind::kInvalid, "import_c8",
                     "the module is not divided among its devices yet: import the text of "
                     "`lower(..).compile().as_text()`, or the StableHLO of `lower(..).as_text()`",
                     entry.instructions.empty() ? SourceSpan() : entry.instructions.front().span);
    }
    for (const HloInstruction& i : entry.instructions) {
      if (i.is_root) out.entry.root_sharding = std::string(i.attribute("sharding"));
    }
    HOSTIR_ASSIGN_OR_RETURN(ModuleFunction main, function(entry, &out.entry));
    main.is_public = true;
    functions_.insert(functions_.begin(), std::move(main));
    out.module.functions = std::move(functions_);
    return out;
  }

 private:
  using Scope = std::unordered_map<std::string_view, Leaves>;

  tl::unexpected<Error> wrong(const HloInstruction& i, std::string message) const {
    return fail_at(ErrorKind::kInvalid, "import_c2", i.opcode + ": " + std::move(message), i.span);
  }

  static void flatten(const HloShape& shape, std::vector<const HloShape*>& out) {
    if (!shape.is_tuple()) {
      out.push_back(&shape);
      return;
    }
    for (const HloShape& part : shape.parts) flatten(part, out);
  }

  static size_t leaf_count(const HloShape& shape) {
    std::vector<const HloShape*> leaves;
    flatten(shape, leaves);
    return leaves.size();
  }

  Leaves define(ModuleFunction& f, const HloInstruction& i, const HloShape& shape) {
    std::vector<const HloShape*> leaves;
    flatten(shape, leaves);
    Leaves out;
    for (size_t n = 0; n < leaves.size(); ++n) {
      out.push_back(static_cast<ValueNumber>(f.values.size()));
      f.values.push_back({leaves.size() > 1 ? fmt::format("{}_{}", i.name, n) : i.name,
                          leaves[n]->type, i.span, 0});
    }
    return out;
  }

  // Converts a computation to a function of its parameters' leaves.
  Expected<ModuleFunction> function(const HloComputation& c, HloEntry* entry) {
    ModuleFunction f;
    f.name = c.name;
    Scope scope;
    std::map<int64_t, const HloInstruction*> params;
    for (const HloInstruction& i : c.instructions) {
      if (i.parameter >= 0 && !params.emplace(i.parameter, &i).second)
        return wrong(i, "two parameters have the same number");
    }
    for (const auto& [number, i] : params) {
      const Leaves leaves = define(f, *i, i->shape);
      const auto shardings = element_shardings(i->attribute("sharding"), leaves.size());
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        f.body.arguments.push_back(leaves[leaf]);
        Port port;
        port.type = f.values[leaves[leaf]].type;
        port.span = i->span;
        f.params.push_back(std::move(port));
        if (entry != nullptr)
          entry->shardings.emplace_back(leaf < shardings.size() ? shardings[leaf] : "");
      }
      scope.emplace(i->name, leaves);
    }
    HOSTIR_ASSIGN_OR_RETURN(const Leaves results, instructions(f, f.body, c, scope, 0));
    for (const ValueNumber leaf : results) {
      Port port;
      port.type = f.values[leaf].type;
      f.results.push_back(std::move(port));
    }
    finish(f.body, "func.return", results);
    if (c.root() != nullptr) f.body.ops.back().span = c.root()->span;
    return f;
  }

  static void finish(ModuleBlock& block, std::string name, const Leaves& results) {
    ModuleOp end;
    end.name = std::move(name);
    end.operands = results;
    block.ops.push_back(std::move(end));
  }

  // Converts a computation to a region. Its arguments are the `given` leaves or, if that is null,
  // new ones.
  Expected<ModuleBlock> region(ModuleFunction& f, const HloInstruction& user, std::string_view name,
                               const std::vector<Leaves>* given, int depth) {
    const HloComputation* c = text_.find(name);
    if (c == nullptr) return wrong(user, "there is no computation " + std::string(name));
    if (depth > kMaxNestedComputations) return wrong(user, "computations nested too deeply");
    ModuleBlock block;
    Scope scope;
    std::map<int64_t, const HloInstruction*> params;
    for (const HloInstruction& i : c->instructions) {
      if (i.parameter >= 0) params.emplace(i.parameter, &i);
    }
    for (const auto& [number, i] : params) {
      Leaves leaves;
      if (given != nullptr) {
        if (static_cast<size_t>(number) >= given->size())
          return wrong(user, "too few operands for its computation");
        leaves = (*given)[static_cast<size_t>(number)];
        if (leaves.size() != leaf_count(i->shape))
          return wrong(user, "its tuple is not the one that its computation takes");
      } else {
        leaves = define(f, *i, i->shape);
        block.arguments.insert(block.arguments.end(), leaves.begin(), leaves.end());
      }
      scope.emplace(i->name, std::move(leaves));
    }
    HOSTIR_ASSIGN_OR_RETURN(const Leaves results, instructions(f, block, *c, scope, depth));
    finish(block, "stablehlo.return", results);
    return block;
  }

  Expected<Leaves> instructions(ModuleFunction& f, ModuleBlock& block, const HloComputation& c,
                                Scope& scope, int depth) {
    Leaves root;
    for (const HloInstruction& i : c.instructions) {
      if (++converted_ > kMaxConvertedOps) return wrong(i, "too many instructions");
      if (i.parameter < 0) HOSTIR_TRY(instruction(f, block, i, c, scope, depth));
      if (&i == c.root()) root = scope[i.name];
    }
    return root;
  }

  Expected<std::vector<Leaves>> operands(const HloInstruction& i, const Scope& scope) const {
    std::vector<Leaves> out;
    for (const std::string& name : i.operands) {
      const auto found = scope.find(name);
      if (found == scope.end()) return wrong(i, "%" + name + " is not defined before its use");
      out.push_back(found->second);
    }
    return out;
  }

  // The first leaf and the number of leaves of element `index` in a tuple shape.
  static std::pair<size_t, size_t> element_leaves(const HloShape& tuple, size_t index) {
    size_t first = 0;
    for (size_t p = 0; p < index; ++p) first += leaf_count(tuple.parts[p]);
    return {first, leaf_count(tuple.parts[index])};
  }

  Expected<void> instruction(ModuleFunction& f, ModuleBlock& block, const HloInstruction& i,
                             const HloComputation& c, Scope& scope, int depth) {
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<Leaves> in, operands(i, scope));
    Leaves all;
    for (const Leaves& leaves : in) all.insert(all.end(), leaves.begin(), leaves.end());
    for (const ValueNumber leaf : all) ++f.values[leaf].uses;
    if (i.opcode == "tuple" || (passes_through(i.opcode) && !in.empty())) {
      scope[i.name] = i.opcode == "tuple" ? all : in.front();
      return {};
    }
    if (i.opcode == "get-tuple-element") return get_element(i, c, in, scope);
    if (i.opcode == "after-all" || i.opcode == "token") {
      scope[i.name] = {};
      return {};
    }
    if (i.opcode == "send" || i.opcode == "recv" || i.opcode == "send-done" ||
        i.opcode == "recv-done") {
      return point_to_point(f, block, i, c, in, scope);
    }
    if (i.opcode.ends_with("-done") || i.opcode.ends_with("-update"))
      return done(f, block, i, in, scope);
    ModuleOp op;
    op.span = i.span;
    op.operands = all;
    return operation(f, block, i, c, in, std::move(op), scope, depth);
  }

  Expected<void> get_element(const HloInstruction& i, const HloComputation& c,
                             const std::vector<Leaves>& in, Scope& scope) {
    const auto index = integers_in(i.attribute("index"));
    const HloInstruction* tuple = i.operands.size() == 1 ? c.find(i.operands[0]) : nullptr;
    if (tuple == nullptr || index.size() != 1 || index[0] < 0 ||
        static_cast<size_t>(index[0]) >= tuple->shape.parts.size()) {
      return wrong(i, "no such element");
    }
    const auto [first, count] = element_leaves(tuple->shape, static_cast<size_t>(index[0]));
    if (first + count > in[0].size()) return wrong(i, "no such element");
    scope[i.name] = Leaves(in[0].begin() + static_cast<int64_t>(first),
                           in[0].begin() + static_cast<int64_t>(first + count));
    return {};
  }

  // A send and the recv of its channel are a permutation: the send issues it, the recv's done waits
  // for it. A recv is unknown if its send is not here but on the host or in another iteration of a
  // loop.
  Expected<void> point_to_point(ModuleFunction& f, ModuleBlock& block, const HloInstruction& i,
                                const HloComputation& c, const std::vector<Leaves>& in,
                                Scope& scope) {
    const std::string channel(i.attribute("channel_id"));
    scope[i.name] = {};
    if (i.opcode == "recv") received_[i.name] = {channel, receives_[channel]++};
    if (i.opcode == "send" && !in.empty() && in[0].size() == 1) {
      HloInstruction move = i;
      move.opcode = "collective-permute";
      const std::string_view pairs = i.attribute("frontend_attributes");
      const size_t at = pairs.find("_xla_send_recv_source_target_pairs=");
      move.attributes = {
          {"channel_id", channel},
          {"source_target_pairs", std::string(pairs.substr(std::min(at, pairs.size())))}};
      std::vector<Leaves>& sent = sent_[channel];
      if (at == std::string_view::npos) {
        sent.emplace_back();
        return {};
      }
      const size_t end = move.attributes[1].second.find("}}");
      move.attributes[1].second.resize(std::min(end, move.attributes[1].second.size()));
      ModuleOp op;
      op.name = "stablehlo.collective_permute";
      op.span = i.span;
      op.operands = in[0];
      op.attributes.emplace_back("async", Attr());
      HOSTIR_TRY(convert_attributes(op, move, c, partitions_));
      HloShape shape;
      shape.type = f.type(in[0].front());
      op.results = define(f, i, shape);
      sent.push_back(op.results);
      block.ops.push_back(std::move(op));
    }
    if (i.opcode != "recv-done" || i.operands.size() != 1) return {};
    ModuleOp op;
    op.name = "stablehlo.recv";
    op.span = i.span;
    const auto [from, number] = received_[i.operands[0]];
    const auto& sent = sent_[from];
    if (number < sent.size() && !sent[number].empty()) {
      op.name = "hlo.done";
      op.operands = sent[number];
    }
    op.results = define(f, i, i.shape);
    if (op.name == "hlo.done") op.results.resize(1);  // without the token
    scope[i.name] = op.results;
    block.ops.push_back(std::move(op));
    return {};
  }

  // Handles the done of an asynchronous operation: the results of its start are available now.
  Expected<void> done(ModuleFunction& f, ModuleBlock& block, const HloInstruction& i,
                      const std::vector<Leaves>& in, Scope& scope) {
    if (in.empty()) return wrong(i, "ends nothing");
    if (i.opcode.ends_with("-update")) {
      scope[i.name] = in[0];
      started_[i.name] = started_[i.operands[0]];
      return {};
    }
    const auto found = started_.find(i.operands[0]);
    const Leaves& from = found != started_.end() ? found->second : in[0];
    const size_t wanted = leaf_count(i.shape);
    if (from.size() < wanted)
      return wrong(i, "gives more values than the operation that it completes");
    ModuleOp op;
    op.name = "hlo.done";
    op.span = i.span;
    op.operands.assign(from.begin(), from.begin() + static_cast<int64_t>(wanted));
    op.results = define(f, i, i.shape);
    scope[i.name] = op.results;
    block.ops.push_back(std::move(op));
    return {};
  }

  Expected<void> operation(ModuleFunction& f, ModuleBlock& block, const HloInstruction& i,
                           const HloComputation& c, const std::vector<Leaves>& in, ModuleOp op,
                           Scope& scope, int depth) {
    std::string opcode = i.opcode;
    const bool async = opcode.ends_with("-start") && opcode != "async-start";
    if (async) opcode.resize(opcode.size() - 6);
    const auto renamed = renamed_opcodes().find(opcode);
    op.name =
        renamed != renamed_opcodes().end() ? std::string(renamed->second) : "stablehlo." + opcode;
    std::replace(op.name.begin(), op.name.end(), '-', '_');
    if (async || opcode == "async-start") op.attributes.emplace_back("async", Attr());
    HOSTIR_TRY(convert_attributes(op, i, c, partitions_));
    HOSTIR_TRY(computations(f, op, i, in, depth));
    // The tuple of a start has operands, results and contexts; only the results are defined here.
    const HloShape* shape = &i.shape;
    const bool wrapped = (async && opcode != "all-reduce") || opcode == "async-start";
    if (wrapped && i.shape.is_tuple() && i.shape.parts.size() >= 2) shape = &i.shape.parts[1];
    op.results = define(f, i, *shape);
    if (async || opcode == "async-start") started_[i.name] = op.results;
    Leaves leaves = op.results;
    if (shape !=
        &i.shape) {  // rebuild the tuple: operands, then results; the contexts have no values
      leaves = op.operands;
      leaves.insert(leaves.end(), op.results.begin(), op.results.end());
    }
    scope[i.name] = std::move(leaves);
    block.ops.push_back(std::move(op));
    return {};
  }

  // ---- computations named by an instruction

  Expected<void> computations(ModuleFunction& f, ModuleOp& op, const HloInstruction& i,
                              const std::vector<Leaves>& in, int depth) {
    const std::string_view calls =
        i.attribute("calls").empty() ? i.attribute("to_apply") : i.attribute("calls");
    if (op.name == "func.call") {
      const HloComputation* callee = text_.find(calls);
      if (callee == nullptr) return wrong(i, "there is no computation " + std::string(calls));
      if (depth > kMaxNestedComputations || calling_ > kMaxNestedComputations)
        return wrong(i, "calls nested too deeply");
      op.attributes.emplace_back("callee", Attr::of_word(callee->name));
      const bool known =
          std::any_of(functions_.begin(), functions_.end(),
                      [&](const ModuleFunction& g) { return g.name == callee->name; });
      if (known) return {};
      ++calling_;
      auto made = function(*callee, nullptr);
      --calling_;
      if (!made) return tl::unexpected(std::move(made.error()));
      functions_.push_back(std::move(*made));
      return {};
    }
    if (op.name == "stablehlo.while") {
      for (const std::string_view key : {"condition", "body"}) {
        HOSTIR_ASSIGN_OR_RETURN(ModuleBlock block,
                                region(f, i, i.attribute(key), nullptr, depth + 1));
        op.regions.push_back(std::move(block));
      }
      const std::string_view config = i.attribute("backend_config");
      if (const size_t trips = config.find("known_trip_count"); trips != std::string_view::npos) {
        const auto n = integers_in(config.substr(trips, config.find('}', trips) - trips));
        if (!n.empty()) op.attributes.emplace_back("passes", Attr::of_int(n.front()));
      }
      return {};
    }
    if (op.name == "stablehlo.case") return branches(f, op, i, in, depth);
    if (op.name == "stablehlo.select_and_scatter") {
      for (const std::string_view key : {"select", "scatter"}) {
        HOSTIR_ASSIGN_OR_RETURN(ModuleBlock block,
                                region(f, i, i.attribute(key), nullptr, depth + 1));
        op.regions.push_back(std::move(block));
      }
      return {};
    }
    if (!calls.empty() && calls.front() != '{') {  // reducers and comparators
      HOSTIR_ASSIGN_OR_RETURN(ModuleBlock block, region(f, i, calls, nullptr, depth + 1));
      op.regions.push_back(std::move(block));
    }
    return {};
  }

  Expected<void> branches(ModuleFunction& f, ModuleOp& op, const HloInstruction& i,
                          const std::vector<Leaves>& in, int depth) {
    std::vector<std::string> names;
    std::string_view list = i.attribute("branch_computations");
    if (list.empty()) {
      op.name = "stablehlo.if";
      names = {std::string(i.attribute("true_computation")),
               std::string(i.attribute("false_computation"))};
    }
    std::string name;
    for (const char c : list) {
      const bool part = c != '{' && c != '}' && c != ',' && c != ' ' && c != '%';
      if (part) name += c;
      if ((c == ',' || c == '}') && !name.empty()) names.push_back(std::exchange(name, ""));
    }
    if (in.size() != names.size() + 1) return wrong(i, "one operand per branch");
    for (size_t b = 0; b < names.size(); ++b) {
      const std::vector<Leaves> given = {in[b + 1]};
      HOSTIR_ASSIGN_OR_RETURN(ModuleBlock block, region(f, i, names[b], &given, depth + 1));
      op.regions.push_back(std::move(block));
    }
    op.operands = in[0];
    return {};
  }

  const HloText& text_;
  std::vector<ModuleFunction> functions_;
  std::unordered_map<std::string, Leaves> started_;
  // By channel: the sent values (empty if the text does not say where to), and the number of recvs
  // so far. By the name of a recv: its channel and its number there.
  std::unordered_map<std::string, std::vector<Leaves>> sent_;
  std::unordered_map<std::string, size_t> receives_;
  std::unordered_map<std::string, std::pair<std::string, size_t>> received_;
  int64_t partitions_ = 1;
  int64_t converted_ = 0;
  int calling_ = 0;
};

}  // namespace

Expected<HloModule> convert_hlo(const HloText& text) { return Converter(text).convert(); }

}  // namespace hostir::importer
