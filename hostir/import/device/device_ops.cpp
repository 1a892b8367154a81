#include "hostir/import/device/device_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/reducer.h"
#include "hostir/import/rewrite/tile_sharding.h"

namespace hostir::importer {

namespace {

using Groups = std::vector<std::vector<int64_t>>;
using Sizes = std::vector<int64_t>;

Sizes to_front(size_t rank, size_t dim) {
  Sizes out = {static_cast<int64_t>(dim)};
  for (size_t d = 0; d < rank; ++d) {
    if (d != dim) out.push_back(static_cast<int64_t>(d));
  }
  return out;
}

Sizes from_front(size_t rank, size_t dim) {
  Sizes out;
  for (size_t d = 0; d < rank; ++d)
    out.push_back(static_cast<int64_t>(d < dim ? d + 1 : d == dim ? 0 : d));
  return out;
}

Reduction reduction_of(ReducerKind kind) {
  switch (kind) {
    case ReducerKind::kSum:
      return Reduction::kSum;
    case ReducerKind::kProd:
      return Reduction::kProd;
    case ReducerKind::kMax:
    case ReducerKind::kOr:
      return Reduction::kMax;
    case ReducerKind::kMin:
    case ReducerKind::kAnd:
      return Reduction::kMin;
  }
  return Reduction::kSum;
}

// Collectives move booleans as bytes 0 and 1.
Expected<Known> as_number(Emitter& e, const Known& x) {
  return x.type.element == "i1" ? e.cast(x, "ui8") : Expected<Known>(x);
}

Expected<Known> back_to(Emitter& e, const Known& x, const std::string& element) {
  if (element != "i1") return x;
  return e.compared(x, e.integer(0, x.type), "ne");
}

bool valid_dim(int64_t dim, const Known& x) {
  return dim >= 0 && static_cast<size_t>(dim) < x.type.dims.size();
}

}  // namespace

std::optional<Groups> dense_groups(const Attr& attr) {
  if (!attr.literal || attr.literal->type.dims.size() != 2) return std::nullopt;
  const auto ids = attr.integers();
  const auto columns = static_cast<size_t>(attr.literal->type.dims[1]);
  Groups out;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (columns == 0 || i % columns == 0) out.emplace_back();
    if (ids[i] >= 0) out.back().push_back(ids[i]);
  }
  std::erase_if(out, [](const auto& group) { return group.empty(); });
  return out;
}

// The replica groups: from mesh axes or dense ids. Without the attribute, one group of all devices.
Expected<Groups> DeviceOps::groups_of(const OpSite& s) const {
  const Attr* attr = s.op.find("replica_groups");
  Groups all(1);
  for (int64_t p = 0; p < world_.size(); ++p) all[0].push_back(world_.rank_at(p));
  if (attr == nullptr) return all;
  if (const Attr* axes = attr->find("axes")) {
    std::vector<AxisRef> refs;
    for (const Attr& axis : axes->items) {
      AxisRef ref;
      if (const Attr* name = axis.find("name")) ref.name = name->text;
      if (const Attr* part = axis.find("sub_axis_info")) {
        const auto sizes = part->integers();
        if (sizes.size() == 2) ref.pre = sizes[0], ref.size = sizes[1];
      }
      if (!has_axis(world_, ref))
        return s.fail("import_c2", "the mesh has no axis \"" + ref.to_string() + "\"");
      refs.push_back(std::move(ref));
    }
    return groups_over(world_, refs);
  }
  auto groups = dense_groups(*attr);
  if (!groups) return s.fail("import_c8", "its replica groups are in a form that cannot be read");
  if (groups->empty()) return all;
  for (const auto& group : *groups) {
    for (const int64_t id : group) {
      if (id >= world_.size())
        return s.fail("import_c2", fmt::format("a group names device {}, but there are {} devices",
                                               id, world_.size()));
    }
  }
  return *groups;
}

Expected<std::vector<Known>> DeviceOps::collective(const OpSite& s, OpKind op,
                                                   std::vector<Known> inputs,
                                                   std::vector<ModuleType> types,
                                                   Attributes attributes, Groups groups) {
  DeviceOp made;
  made.step.kind = LocalStep::Kind::kCollective;
  made.step.place = s.op.span;
  made.step.op = op;
  made.step.attributes = std::move(attributes);
  made.step.groups = std::move(groups);
  std::vector<Known> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(const ValueId value, s.emitter.materialise(inputs[i]));
    made.inputs.push_back(value);
    HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(types[i], s.op.span));
    out.push_back(s.emitter.parameter(s.op.name.substr(s.op.name.find('.') + 1), types[i], type));
    made.outputs.push_back(out.back().value);
  }
  made.position = s.emitter.target().instructions.size();
  ops_.push_back(std::move(made));
  return out;
}

Expected<bool> DeviceOps::take(const OpSite& s) {
  const std::string_view name = s.op.name;
  const bool numbers = name == "stablehlo.partition_id" || name == "stablehlo.replica_id";
  if (name == "stablehlo.while") return take_while(s);
  if (!numbers && s.count() == 0) return false;
  if (name == "stablehlo.all_reduce") return take_all_reduce(s);
  if (name == "stablehlo.all_gather") return take_all_gather(s);
  if (name == "stablehlo.reduce_scatter") return take_reduce_scatter(s);
  if (name == "stablehlo.all_to_all") return take_all_to_all(s);
  if (name == "stablehlo.collective_permute") return take_permute(s);
  if (name == "stablehlo.collective_broadcast") return take_broadcast(s);
  if (numbers) return take_device_number(s);
  return false;
}

Expected<bool> DeviceOps::take_all_reduce(const OpSite& s) {
  const auto kind = reducer_of(s.function, s.op);
  if (!kind)
    return s.fail("import_c8",
                  "its reducer is not one of sum, product, maximum, minimum, and \"and\" and "
                  "\"or\" of booleans");
  HOSTIR_ASSIGN_OR_RETURN(Groups groups, groups_of(s));
  std::vector<Known> inputs;
  std::vector<ModuleType> types;
  for (size_t i = 0; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known x, as_number(s.emitter, s.in(i)));
    types.push_back(x.type);
    inputs.push_back(std::move(x));
  }
  Attributes attributes;
  attributes.set("reduction", reduction_of(*kind));
  // Several tensors of one dtype travel as one: a compiler has combined them to save latency.
  const bool joins =
      inputs.size() > 1 && std::all_of(types.begin(), types.end(), [&](const auto& t) {
        return t.element == types[0].element && t.element_count() >= 0;
      });
  if (joins) {
    std::vector<Known> flat;
    ModuleType all = tensor_type(types[0].element, {0});
    for (size_t i = 0; i < inputs.size(); ++i) {
      all.dims[0] += types[i].element_count();
      HOSTIR_ASSIGN_OR_RETURN(Known x, s.emitter.reshaped(inputs[i], {types[i].element_count()}));
      flat.push_back(std::move(x));
    }
    HOSTIR_ASSIGN_OR_RETURN(const Known joined, s.emitter.concatenated(std::move(flat), 0));
    HOSTIR_ASSIGN_OR_RETURN(const auto sum, collective(s, OpKind::all_reduce, {joined}, {all},
                                                       std::move(attributes), std::move(groups)));
    int64_t start = 0;
    for (size_t i = 0; i < types.size(); ++i) {
      const int64_t limit = start + types[i].element_count();
      HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.sliced(sum[0], {start}, {limit}, {1}));
      HOSTIR_ASSIGN_OR_RETURN(y, s.emitter.reshaped(y, types[i].dims));
      HOSTIR_ASSIGN_OR_RETURN(y, back_to(s.emitter, y, s.in(i).type.element));
      HOSTIR_TRY(s.set(std::move(y), i));
      start = limit;
    }
    return true;
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto sums,
                          collective(s, OpKind::all_reduce, std::move(inputs), std::move(types),
                                     std::move(attributes), std::move(groups)));
  for (size_t i = 0; i < sums.size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, back_to(s.emitter, sums[i], s.in(i).type.element));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return true;
}

// The collective joins blocks along dimension 0, so the gathered dimension is moved to the front
// and back again afterwards.
Expected<bool> DeviceOps::take_all_gather(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(const Groups groups, groups_of(s));
  const int64_t dim = s.op.integer_or("all_gather_dim", 0);
  const auto members = static_cast<int64_t>(groups.front().size());
  std::vector<Known> inputs;
  std::vector<ModuleType> types;
  for (size_t i = 0; i < s.count(); ++i) {
    if (!valid_dim(dim, s.in(i)))
      return s.fail("import_c2", fmt::format("there is no dimension {}", dim));
    const auto d = static_cast<size_t>(dim);
    HOSTIR_ASSIGN_OR_RETURN(Known x,
                            s.emitter.transposed(s.in(i), to_front(s.in(i).type.dims.size(), d)));
    types.push_back(x.type);
    types.back().dims[0] *= members;
    inputs.push_back(std::move(x));
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto all, collective(s, OpKind::all_gather, std::move(inputs),
                                                     std::move(types), {}, groups));
  for (size_t i = 0; i < all.size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, s.emitter.transposed(
                     all[i], from_front(all[i].type.dims.size(), static_cast<size_t>(dim))));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return true;
}

Expected<bool> DeviceOps::take_reduce_scatter(const OpSite& s) {
  const auto kind = reducer_of(s.function, s.op);
  if (!kind)
    return s.fail("import_c8",
                  "its reducer is not one of sum, product, maximum, minimum, and \"and\" and "
                  "\"or\" of booleans");
  HOSTIR_ASSIGN_OR_RETURN(const Groups groups, groups_of(s));
  const int64_t dim = s.op.integer_or("scatter_dimension", 0);
  const auto members = static_cast<int64_t>(groups.front().size());
  std::vector<Known> inputs;
  std::vector<ModuleType> types;
  for (size_t i = 0; i < s.count(); ++i) {
    if (!valid_dim(dim, s.in(i)) || s.in(i).type.dims[static_cast<size_t>(dim)] % members != 0) {
      return s.fail("import_c2",
                    fmt::format("dimension {} cannot be divided among {} devices", dim, members));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known x, as_number(s.emitter, s.in(i)));
    HOSTIR_ASSIGN_OR_RETURN(
        x, s.emitter.transposed(x, to_front(x.type.dims.size(), static_cast<size_t>(dim))));
    types.push_back(x.type);
    types.back().dims[0] /= members;
    inputs.push_back(std::move(x));
  }
  Attributes attributes;
  attributes.set("reduction", reduction_of(*kind));
  HOSTIR_ASSIGN_OR_RETURN(const auto parts,
                          collective(s, OpKind::reduce_scatter, std::move(inputs), std::move(types),
                                     std::move(attributes), groups));
  for (size_t i = 0; i < parts.size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, s.emitter.transposed(
                     parts[i], from_front(parts[i].type.dims.size(), static_cast<size_t>(dim))));
    HOSTIR_ASSIGN_OR_RETURN(y, back_to(s.emitter, y, s.in(i).type.element));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return true;
}

namespace {

// Turns the result of an exchange, [members * part, others..], into the tensor with the blocks of
// the split dimension in the concat dimension. `dims` are the dimensions before the exchange.
Expected<Known> exchanged_blocks(Emitter& e, const Known& moved, const Sizes& dims, int64_t members,
                                 size_t split, size_t concat) {
  // Reshape to [members, part, others..], then move the part back to its place and `members` to
  // just before the concat dimension.
  Sizes apart = moved.type.dims;
  apart[0] /= members;
  apart.insert(apart.begin(), members);
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.reshaped(moved, apart));
  Sizes order;
  const Sizes back = from_front(dims.size(), split);
  for (size_t d = 0; d < back.size(); ++d) {
    if (d == concat) order.push_back(0);
    order.push_back(back[d] + 1);
  }
  HOSTIR_ASSIGN_OR_RETURN(y, e.transposed(y, order));
  Sizes joined = dims;
  joined[split] /= members;
  joined[concat] *= members;
  return e.reshaped(y, joined);
}

}  // namespace

// Block j of the split dimension goes to member j; the block from member j becomes block j of the
// concat dimension.
Expected<bool> DeviceOps::take_all_to_all(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(const Groups groups, groups_of(s));
  const auto members = static_cast<int64_t>(groups.front().size());
  if (s.op.find("split_dimension") == nullptr) return take_exchange_of_operands(s, groups);
  const int64_t split = s.op.integer_or("split_dimension", 0);
  const int64_t concat = s.op.integer_or("concat_dimension", 0);
  const auto sd = static_cast<size_t>(split);
  const auto cd = static_cast<size_t>(concat);
  std::vector<Known> fronts;
  std::vector<ModuleType> types;
  for (size_t i = 0; i < s.count(); ++i) {
    const Known& x = s.in(i);
    if (!valid_dim(split, x) || !valid_dim(concat, x) || x.type.dims[sd] % members != 0) {
      return s.fail("import_c2",
                    fmt::format("dimension {} cannot be divided among {} devices", split, members));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known front, s.emitter.transposed(x, to_front(x.type.dims.size(), sd)));
    types.push_back(front.type);
    fronts.push_back(std::move(front));
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto moved, collective(s, OpKind::all_to_all, std::move(fronts),
                                                       std::move(types), {}, groups));
  for (size_t i = 0; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, exchanged_blocks(s.emitter, moved[i], s.in(i).type.dims, members, sd, cd));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return true;
}

// With one operand per member, or several per member in turn: stacks the operands, exchanges them,
// and unstacks the results.
Expected<bool> DeviceOps::take_exchange_of_operands(const OpSite& s, const Groups& groups) {
  const size_t members = groups.front().size();
  const size_t each = s.count() / members;
  if (each * members != s.count())
    return s.fail("import_c2",
                  fmt::format("needs one operand for each of the {} members of a group", members));
  std::vector<Known> stacks;
  std::vector<ModuleType> types;
  for (size_t part = 0; part < each; ++part) {
    std::vector<Known> rows;
    for (size_t i = part; i < s.count(); i += each) {
      Sizes dims = s.in(i).type.dims;
      if (dims != s.in(0).type.dims)
        return s.fail("import_c2", "its operands have different shapes");
      dims.insert(dims.begin(), 1);
      HOSTIR_ASSIGN_OR_RETURN(Known row, s.emitter.reshaped(s.in(i), dims));
      rows.push_back(std::move(row));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known stacked, s.emitter.concatenated(std::move(rows), 0));
    types.push_back(stacked.type);
    stacks.push_back(std::move(stacked));
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto moved, collective(s, OpKind::all_to_all, std::move(stacks),
                                                       std::move(types), {}, groups));
  for (size_t i = 0; i < s.count(); ++i) {
    const Known& all = moved[i % each];
    Sizes start(all.type.dims.size(), 0);
    Sizes limit = all.type.dims;
    start[0] = static_cast<int64_t>(i / each);
    limit[0] = start[0] + 1;
    HOSTIR_ASSIGN_OR_RETURN(const Known row,
                            s.emitter.sliced(all, start, limit, Sizes(start.size(), 1)));
    HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.reshaped(row, s.in(i).type.dims));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return true;
}

// Pairs are device numbers. The communicator is the whole mesh, so its positions are mesh
// positions.
Expected<bool> DeviceOps::take_permute(const OpSite& s) {
  const auto ids = s.op.integers("source_target_pairs");
  Groups world(1);
  for (int64_t p = 0; p < world_.size(); ++p) world[0].push_back(world_.rank_at(p));
  IntLists pairs;
  for (size_t i = 0; i + 1 < ids.size(); i += 2) {
    IntList pair;
    for (const int64_t id : {ids[i], ids[i + 1]}) {
      const auto position = world_.position_of(id);
      if (!position)
        return s.fail("import_c2", fmt::format("a pair names device {}, but there are {} devices",
                                               id, world_.size()));
      pair.push_back(*position);
    }
    pairs.push_back(std::move(pair));
  }
  Attributes attributes;
  attributes.set("pairs", std::move(pairs));
  return take_as_they_are(s, OpKind::permute, std::move(attributes), std::move(world));
}

Expected<bool> DeviceOps::take_broadcast(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(Groups groups, groups_of(s));
  Attributes attributes;
  attributes.set("root", IndexExpr(0));
  return take_as_they_are(s, OpKind::broadcast, std::move(attributes), std::move(groups));
}

Expected<bool> DeviceOps::take_as_they_are(const OpSite& s, OpKind op, Attributes attributes,
                                           Groups groups) {
  std::vector<Known> inputs;
  std::vector<ModuleType> types;
  for (size_t i = 0; i < s.count(); ++i) {
    inputs.push_back(s.in(i));
    types.push_back(s.in(i).type);
  }
  HOSTIR_ASSIGN_OR_RETURN(auto out, collective(s, op, std::move(inputs), std::move(types),
                                               std::move(attributes), std::move(groups)));
  for (size_t i = 0; i < out.size(); ++i) HOSTIR_TRY(s.set(std::move(out[i]), i));
  return true;
}

// partition_id and replica_id. There is a single replica with number 0.
Expected<bool> DeviceOps::take_device_number(const OpSite& s) {
  if (s.op.name == "stablehlo.replica_id" || world_.size() == 1) {
    HOSTIR_TRY(our_type(s.result_type(), s.op.span));
    HOSTIR_TRY(s.set(s.emitter.integer(0, s.result_type())));
    return true;
  }
  if (!device_number_) {
    HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(s.result_type(), s.op.span));
    device_number_ = s.emitter.parameter("device", s.result_type(), type);
    DeviceOp made;
    made.step.kind = LocalStep::Kind::kDevice;
    made.step.place = s.op.span;
    made.step.kernel = name_ + ".device";
    made.outputs = {device_number_->value};
    made.position = s.emitter.target().instructions.size();
    ops_.push_back(std::move(made));
  }
  HOSTIR_TRY(s.set(*device_number_));
  return true;
}

}  // namespace hostir::importer
