#include "hostir/import/emit/emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/formula.h"
#include "hostir/import/emit/handlers.h"
#include "hostir/ops/record.h"
#include "hostir/support/characters.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

std::string clean_name(std::string_view name) {
  std::string out;
  for (const char c : name) out += is_word_char(c) ? c : '_';
  return out.empty() ? "v" : out;
}

bool is_terminator(std::string_view name) {
  return name == "func.return" || name == "stablehlo.return" || name == "sdy.return" ||
         name == "mhlo.return";
}

Shape shape_from(const std::vector<int64_t>& dims) { return Shape(dims.begin(), dims.end()); }

ModuleType module_type(const TensorType& type) {
  std::string element(hostir::name(type.dtype));
  if (element.starts_with("u")) element = "ui" + element.substr(1);
  if (element == "f8e4m3") element = "f8E4M3FN";
  if (element == "f8e5m2") element = "f8E5M2";
  std::vector<int64_t> dims;
  for (const IndexExpr& size : type.shape)
    dims.push_back(size.simplified().is_const() ? size.simplified().value() : -1);
  return tensor_type(std::move(element), std::move(dims));
}

}  // namespace

tl::unexpected<Error> OpSite::fail(std::string id, std::string message) const {
  if (id == "import_c2" && count() > 0) {  // the operands do not fit: name their types
    std::string types;
    for (size_t i = 0; i < count(); ++i) {
      const auto& known = frame[op.operands[i]];
      types += (i == 0 ? "" : ", ") + (known ? known->type.to_string() : std::string("unknown"));
    }
    message += "; its operands are " + types;
  }
  return fail_at(ErrorKind::kInvalid, std::move(id), op.name + ": " + std::move(message), op.span);
}

Expected<void> OpSite::set(Known known, size_t i) const {
  if (i >= op.results.size()) return {};
  const ModuleType& wanted = result_type(i);
  if (known.type.dims != wanted.dims || known.type.dtype() != wanted.dtype()) {
    return fail("import_c2",
                "gives " + known.type.to_string() + ", but the text says " + wanted.to_string());
  }
  known.type = wanted;
  frame[op.results[i]] = std::move(known);
  return {};
}

Known splat_of(Tensor scalar, ModuleType type) {
  Known out;
  scalar.extents.clear();
  out.type = std::move(type);
  out.number = std::move(scalar);
  out.splat = true;
  return out;
}

Expected<TensorType> our_type(const ModuleType& type, SourceSpan at) {
  if (!type.is_tensor()) {
    return fail_at(ErrorKind::kInvalid, "import_c1",
                   "there is no counterpart to values of type " + type.to_string(), at);
  }
  const auto dtype = type.dtype();
  if (!dtype) {
    return fail_at(ErrorKind::kInvalid, "import_c1",
                   "there is no dtype for elements of type " + type.element, at);
  }
  if (type.element_count() < 0) {
    return fail_at(
        ErrorKind::kInvalid, "import_c1",
        type.to_string() + " has a size that is not known; export the module with fixed sizes", at);
  }
  TensorType out;
  out.dtype = *dtype;
  out.shape = shape_from(type.dims);
  return out;
}

Emitter::Emitter(const Module& module, const Program& program, Function& target,
                 ImportReport& report)
    : module_(module), program_(program), target_(target), report_(report) {
  if (target_.regions.empty()) target_.body = target_.add_region();
  region_ = target_.body;
}

std::string Emitter::fresh_name(std::string wanted) {
  wanted = clean_name(wanted);
  if (names_.insert(wanted).second) return wanted;
  uint32_t& count = name_counts_[wanted];
  std::string name;
  do {
    name = fmt::format("{}_{}", wanted, ++count);
  } while (!names_.insert(name).second);
  return name;
}

Known Emitter::parameter(const std::string& name, const ModuleType& type, Type ours) {
  Known out;
  out.type = type;
  out.value = target_.add_value(fresh_name(name), std::move(ours));
  return out;
}

Expected<ValueId> Emitter::constant(const Known& known) {
  HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(known.type, place_));
  const Tensor& number = *known.number;
  std::string key = known.type.to_string() + (known.splat ? "=" : ":");
  key.append(reinterpret_cast<const char*>(number.data.data()), number.data.size());
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  Instruction instruction;
  instruction.kind = OpKind::constant;
  if (known.splat) {
    const double value = number.get_double(0);
    if (is_float(number.dtype) || static_cast<int64_t>(value) == number.get_int(0)) {
      instruction.attributes.set("value", value);
    } else {  // an integer beyond 2^53
      Tensor all = Tensor::zeros(number.dtype, known.type.dims);
      for (int64_t i = 0; i < all.element_count(); ++i) all.set_int(i, number.get_int(0));
      instruction.attributes.set("data", std::move(all));
    }
  } else {
    instruction.attributes.set("data", number);
  }
  const ValueId value = target_.add_value(fresh_name("c"), type);
  instruction.results = {value};
  target_.add_instruction(region_, std::move(instruction));
  constants_.emplace(std::move(key), value);
  return value;
}

Expected<ValueId> Emitter::materialise(const Known& known) {
  if (known.value.valid()) return known.value;
  if (known.is_number()) return constant(known);
  if (!known.pieces.empty() && known.type.is_tensor()) {
    Attributes attributes;
    attributes.set("dim", static_cast<int64_t>(known.pieces_dim));
    HOSTIR_ASSIGN_OR_RETURN(const Known joined,
                            apply_list(OpKind::concat, known.pieces, std::move(attributes)));
    return joined.value;
  }
  return fail_at(ErrorKind::kInvalid, "import_c3",
                 "a value of type " + known.type.to_string() + " has no counterpart", place_);
}

Expected<Known> Emitter::kept_whole(const Known& known, size_t last_dims) {
  if (target_.kind != FunctionKind::kFusion || program_.meshes.empty()) return known;
  const Shape shape = shape_from(known.type.dims);
  Attributes attributes;
  attributes.set("shape", ExprList(shape.begin(), shape.end()));
  HOSTIR_ASSIGN_OR_RETURN(Known same, apply(OpKind::reshape, {known}, std::move(attributes)));
  Sharding whole = Sharding::replicated(program_.meshes.front().name, shape.size());
  for (size_t d = 0; d + last_dims < shape.size(); ++d) whole.dims[d].open = true;
  std::get<TensorType>(target_.value(same.value).type).sharding = std::move(whole);
  return same;
}

Expected<Known> Emitter::apply(OpKind kind, std::initializer_list<Known> operands,
                               Attributes attributes, const ModuleType* written) {
  return apply_list(kind, std::vector<Known>(operands), std::move(attributes), written);
}

Expected<Instruction> Emitter::instruction(OpKind kind, const std::vector<Known>& operands,
                                           Attributes attributes) {
  if (target_.instructions.size() >= kMaxInstructions) {
    return fail_at(
        ErrorKind::kInvalid, "import_c4",
        fmt::format("the module becomes more than {} instructions; its loops are unrolled",
                    kMaxInstructions),
        place_);
  }
  Instruction out;
  out.kind = kind;
  out.attributes = std::move(attributes);
  out.span = place_;
  out.name_span = place_;
  const OpRecord& op = record(kind);
  for (size_t i = 0; i < operands.size(); ++i) {
    Operand operand;
    HOSTIR_ASSIGN_OR_RETURN(operand.value, materialise(operands[i]));
    operand.slot = static_cast<uint8_t>(slot_of(op, i));
    operand.span = place_;
    out.operands.push_back(operand);
  }
  return out;
}

Expected<Known> Emitter::apply_list(OpKind kind, std::vector<Known> operands, Attributes attributes,
                                    const ModuleType* written) {
  HOSTIR_ASSIGN_OR_RETURN(Instruction made, instruction(kind, operands, std::move(attributes)));
  Type type = NoType{};
  if (written != nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(type, our_type(*written, place_));
  }
  made.results = {target_.add_value(fresh_name(wanted_name_.empty() ? "v" : wanted_name_), type)};
  HOSTIR_ASSIGN_OR_RETURN(auto out, finished(std::move(made)));
  return std::move(out.front());
}

Expected<std::vector<Known>> Emitter::apply_many(OpKind kind, std::vector<Known> operands,
                                                 Attributes attributes, size_t results) {
  HOSTIR_ASSIGN_OR_RETURN(Instruction made, instruction(kind, operands, std::move(attributes)));
  for (size_t i = 0; i < results; ++i) {
    made.results.push_back(
        target_.add_value(fresh_name(wanted_name_.empty() ? "v" : wanted_name_), NoType{}));
  }
  return finished(std::move(made));
}

Expected<std::vector<Known>> Emitter::finished(Instruction made) {
  auto inferred = check_and_infer(program_, target_, made);
  if (!inferred) {
    for (Diagnostic& d : inferred.error().diagnostics) d.span = place_;
    inferred.error().kind = ErrorKind::kInvalid;
    return tl::unexpected(std::move(inferred.error()));
  }
  std::vector<Known> out;
  for (size_t i = 0; i < made.results.size(); ++i) {
    const ValueId value = made.results[i];
    target_.value(value).type = (*inferred)[i];
    Known known;
    known.value = value;
    known.type = module_type(std::get<TensorType>((*inferred)[i]));
    out.push_back(std::move(known));
  }
  target_.add_instruction(region_, std::move(made));
  return out;
}

// Modules may have equal meshes under several names; the program has each mesh once.
const Mesh* Emitter::mesh_of(const Sharding& sharding) const {
  const Mesh* theirs = module_.find_mesh(sharding.mesh);
  if (theirs == nullptr) return nullptr;
  for (const Mesh& ours : program_.meshes) {
    if (ours.axes == theirs->axes && ours.device_ids == theirs->device_ids) return &ours;
  }
  return nullptr;
}

Expected<Known> Emitter::settled(const Known& known) {
  Known out = known;
  HOSTIR_ASSIGN_OR_RETURN(out.value, materialise(known));
  return out;
}

Expected<std::vector<Known>> Emitter::block(const ModuleFunction& function,
                                            const ModuleBlock& block, Frame& frame) {
  for (const ModuleOp& op : block.ops) {
    if (is_terminator(op.name)) {
      std::vector<Known> out;
      for (const ValueNumber value : op.operands) {
        if (!frame[value]) {
          return fail_at(ErrorKind::kInvalid, "import_c3",
                         fmt::format("%{} is returned without a value: its region is not given "
                                     "this argument",
                                     function.values[value].name),
                         op.span);
        }
        out.push_back(*frame[value]);
      }
      return out;
    }
    HOSTIR_TRY(operation(function, op, frame));
  }
  return fail_at(ErrorKind::kInvalid, "import_c5",
                 "a region of @" + function.name + " does not end with a return", function.span);
}

Expected<std::vector<Known>> Emitter::call(const ModuleFunction& callee,
                                           std::vector<Known> arguments, SourceSpan at) {
  if (arguments.size() != callee.body.arguments.size()) {
    return fail_at(ErrorKind::kInvalid, "import_c6",
                   fmt::format("@{} takes {} arguments, {} are given", callee.name,
                               callee.body.arguments.size(), arguments.size()),
                   at);
  }
  if (calls_ >= kMaxCalls) {
    return fail_at(ErrorKind::kInvalid, "import_c6",
                   fmt::format("calls nested deeper than {} levels: @{} may call itself", kMaxCalls,
                               callee.name),
                   at);
  }
  Frame frame(callee.values.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type != callee.type(callee.body.arguments[i])) {
      return fail_at(ErrorKind::kInvalid, "import_c6",
                     fmt::format("argument {} of @{} is {}, it takes {}", i, callee.name,
                                 arguments[i].type.to_string(),
                                 callee.type(callee.body.arguments[i]).to_string()),
                     at);
    }
    frame[callee.body.arguments[i]] = std::move(arguments[i]);
  }
  ++calls_;
  auto results = block(callee, callee.body, frame);
  --calls_;
  return results;
}

// The type of an operand or result that can only be stored, if the operation does more than move
// it.
static const ModuleType* computes_with_bytes(const OpSite& site) {
  static constexpr std::string_view kMoves[] = {
      "stablehlo.reshape",
      "stablehlo.transpose",
      "stablehlo.slice",
      "stablehlo.concatenate",
      "stablehlo.reverse",
      "stablehlo.broadcast_in_dim",
      "stablehlo.gather",
      "stablehlo.dynamic_slice",
      "stablehlo.select",
      "stablehlo.dynamic_update_slice",
      "stablehlo.custom_call",
      "stablehlo.optimization_barrier",
      "stablehlo.while",
      "stablehlo.case",
      "stablehlo.if",
      "stablehlo.composite",
      "stablehlo.tuple",
      "stablehlo.get_tuple_element",
      "stablehlo.all_gather",
      "stablehlo.all_to_all",
      "stablehlo.collective_permute",
      "sdy.manual_computation",
      "sdy.named_computation",
      "sdy.sharding_constraint",
      "sdy.reshard",
      "hlo.bitcast",
      "func.call",
  };
  if (contains(kMoves, site.op.name)) return nullptr;
  for (const auto* list : {&site.op.operands, &site.op.results}) {
    for (const ValueNumber value : *list) {
      if (is_only_stored(site.function.type(value))) return &site.function.type(value);
    }
  }
  return nullptr;
}

Expected<void> Emitter::operation(const ModuleFunction& function, const ModuleOp& op,
                                  Frame& frame) {
  const OpSite site{*this, function, op, frame};
  place_ = op.span;
  if (op.results.empty()) return {};  // operations have no side effects
  if (++operations_ > kMaxOperations) {
    return site.fail("import_c4",
                     fmt::format("is operation number {} of the unrolled program, which "
                                 "may have {}: its loops run too often",
                                 operations_, kMaxOperations));
  }
  for (const ValueNumber operand : op.operands) {
    if (frame[operand]) continue;
    return site.fail("import_c3", fmt::format("%{} has no value: its region is not given this "
                                              "argument",
                                              function.values[operand].name));
  }
  wanted_name_ = op.results.empty() ? "" : function.values[op.results.front()].name;
  if (const ModuleType* type = computes_with_bytes(site))
    return opaque(site, "elements of type " + type->element);
  if (auto number = folded(site)) return site.set(std::move(*number));
  if (hook_) {
    HOSTIR_ASSIGN_OR_RETURN(const bool done, hook_(site));
    if (done) return {};
  }
  HOSTIR_ASSIGN_OR_RETURN(const bool in_f32, composed_in_f32(site));
  if (in_f32) return {};
  const HandlerRow* row = find_handler(op.name);
  if (row == nullptr) return opaque(site, "");
  if (op.operands.size() < row->least) {
    return site.fail("import_c2", fmt::format("takes at least {} operands and has {}", row->least,
                                              op.operands.size()));
  }
  HOSTIR_TRY(row->handler(site));
  HOSTIR_TRY(wrap_narrow(site));
  return annotate(site);
}

Expected<Known> Emitter::module_op(std::string_view name, std::vector<Known> operands,
                                   std::vector<NamedAttr> attributes) {
  ModuleFunction function;
  Frame frame;
  ModuleOp op;
  op.name = name;
  op.span = place_;
  op.attributes = std::move(attributes);
  ModuleType type = operands.back().type;
  if (name == "stablehlo.compare") type.element = "i1";
  for (Known& operand : operands) {
    op.operands.push_back(static_cast<ValueNumber>(frame.size()));
    function.values.push_back({"", operand.type, op.span, 1});
    frame.emplace_back(std::move(operand));
  }
  op.results = {static_cast<ValueNumber>(frame.size())};
  function.values.push_back({"", std::move(type), op.span, 1});
  frame.emplace_back();
  HOSTIR_TRY(operation(function, op, frame));
  return *frame.back();
}

Expected<void> Emitter::restrict_cut_loops(size_t begin, size_t end, const Known& pred) {
  for (size_t i = begin; i < end; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(cut_[i].still_runs,
                            module_op("stablehlo.and", {cut_[i].still_runs, pred}));
  }
  return {};
}

// Arithmetic on integers of 2 and 4 bits is done in 8 bits.
Expected<void> Emitter::wrap_narrow(const OpSite& site) {
  static constexpr std::string_view kArithmetic[] = {
      "stablehlo.convert",       "stablehlo.add",
      "stablehlo.subtract",      "stablehlo.multiply",
      "stablehlo.divide",        "stablehlo.negate",
      "stablehlo.abs",           "stablehlo.not",
      "stablehlo.power",         "stablehlo.reduce",
      "stablehlo.shift_left",    "stablehlo.dot_general",
      "stablehlo.reduce_window", "stablehlo.bitcast_convert"};
  for (const ValueNumber result : site.op.results) {
    const std::string& element = site.function.type(result).element;
    if (narrow_bits(element) == 0 || !contains(kArithmetic, site.op.name)) continue;
    HOSTIR_ASSIGN_OR_RETURN(Known y, narrowed(*this, *site.frame[result], element));
    site.frame[result] = std::move(y);
  }
  return {};
}

// Applies `sdy.sharding` on an operation: the user's sharding of its results.
Expected<void> Emitter::annotate(const OpSite& site) {
  const Attr* attr = site.op.find("sdy.sharding");
  if (attr == nullptr) return {};
  for (size_t i = 0; i < site.op.results.size() && i < attr->shardings.size(); ++i) {
    const auto& known = site.frame[site.op.results[i]];
    if (!known || !known->value.valid() || !target_.value(known->value).defined_by.valid())
      continue;
    auto* type = std::get_if<TensorType>(&target_.value(known->value).type);
    const Mesh* mesh = mesh_of(attr->shardings[i]);
    if (type == nullptr || mesh == nullptr || attr->shardings[i].dims.size() != type->shape.size())
      continue;
    type->sharding = attr->shardings[i];
    type->sharding->mesh = mesh->name;
  }
  return {};
}

}  // namespace hostir::importer
