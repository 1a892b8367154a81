#include "hostir/import/rewrite/complex_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hostir/import/ops/fourier.h"
#include "hostir/import/rewrite/complex_functions.h"
#include "hostir/import/rewrite/op_builder.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

// Operations that pass values through: a pair takes two places among operands, results and region
// arguments.
constexpr std::string_view kPartByPart[] = {
    "func.return",
    "stablehlo.return",
    "sdy.return",
    "func.call",
    "stablehlo.while",
    "stablehlo.case",
    "stablehlo.if",
    "stablehlo.optimization_barrier",
    "stablehlo.composite",
    "sdy.manual_computation",
    "sdy.named_computation",
    "hlo.done",
};

// The same operation on each part: the parts do not meet.
constexpr std::string_view kLinear[] = {
    "stablehlo.add",           "stablehlo.subtract",
    "stablehlo.negate",        "stablehlo.broadcast_in_dim",
    "stablehlo.reshape",       "stablehlo.transpose",
    "stablehlo.slice",         "stablehlo.reverse",
    "stablehlo.concatenate",   "stablehlo.pad",
    "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice",
    "stablehlo.gather",        "stablehlo.select",
    "stablehlo.convert",       "hlo.bitcast",
    "sdy.sharding_constraint", "sdy.reshard",
    "sdy.propagation_barrier",
};

// The same operation on each part if its region is an addition.
constexpr std::string_view kReducing[] = {
    "stablehlo.reduce",
    "stablehlo.scatter",
    "stablehlo.reduce_window",
};

// One collective moves both parts.
constexpr std::string_view kMoving[] = {
    "stablehlo.all_gather",
    "stablehlo.all_to_all",
    "stablehlo.collective_permute",
    "stablehlo.collective_broadcast",
};
constexpr std::string_view kMovingSums[] = {
    "stablehlo.all_reduce",
    "stablehlo.reduce_scatter",
};

using Pair = ComplexPair;

class Splitter {
 public:
  explicit Splitter(ModuleFunction& f) : f_(f) {}

  void run() {
    std::vector<Port> params;
    for (size_t p = 0; p < f_.params.size() && p < f_.body.arguments.size(); ++p)
      add_ports(f_.params[p], params);
    std::vector<Port> results;
    for (const Port& port : f_.results) add_ports(port, results);
    f_.params = std::move(params);
    f_.results = std::move(results);
    f_.body = block(f_.body);
    count_uses(f_);
  }

 private:
  static void add_ports(const Port& port, std::vector<Port>& out) {
    if (!is_complex(port.type)) {
      out.push_back(port);
      return;
    }
    Port part = port;
    part.type = part_of(port.type);
    for (const std::string_view name : {"_re", "_im"}) {
      part.info = port.info.empty() ? "" : port.info + std::string(name);
      out.push_back(part);
    }
  }

  bool complex(ValueNumber v) const { return is_complex(f_.type(v)); }
  ValueNumber real_of(ValueNumber v) const {
    const auto found = same_.find(v);
    return found != same_.end() ? found->second : v;
  }

  ValueNumber add_value(std::string name, ModuleType type, SourceSpan span) {
    f_.values.push_back({std::move(name), std::move(type), span, 0});
    return static_cast<ValueNumber>(f_.values.size() - 1);
  }

  // The parts of a complex value; new ones where it is defined.
  Pair parts(ValueNumber v) {
    if (const auto found = pairs_.find(v); found != pairs_.end()) return found->second;
    const ModuleValue value = f_.values[v];
    const ModuleType type = part_of(value.type);
    const Pair made = {add_value(value.name + "_re", type, value.span),
                       add_value(value.name + "_im", type, value.span)};
    pairs_.emplace(v, made);
    return made;
  }

  std::vector<ValueNumber> flat(const std::vector<ValueNumber>& values) {
    std::vector<ValueNumber> out;
    for (const ValueNumber v : values) {
      if (complex(v)) {
        out.push_back(parts(v).re);
        out.push_back(parts(v).im);
      } else {
        out.push_back(real_of(v));
      }
    }
    return out;
  }

  ModuleBlock block(const ModuleBlock& given) {
    ModuleBlock out;
    out.arguments = flat(given.arguments);
    for (const ModuleOp& op : given.ops) operation(op, out.ops);
    return out;
  }

  // One sharding per value becomes one for each part.
  void repeat_shardings(ModuleOp& op, std::string_view key, const std::vector<ValueNumber>& of) {
    for (NamedAttr& attr : op.attributes) {
      if (attr.first != key || attr.second.shardings.size() != of.size()) continue;
      std::vector<Sharding> all;
      for (size_t i = 0; i < of.size(); ++i)
        all.insert(all.end(), complex(of[i]) ? 2 : 1, attr.second.shardings[i]);
      attr.second.shardings = std::move(all);
    }
  }

  void pass(const ModuleOp& op, std::vector<ModuleOp>& out) {
    ModuleOp made = op;
    repeat_shardings(made, "in_shardings", op.operands);
    repeat_shardings(made, "out_shardings", op.results);
    repeat_shardings(made, "sdy.sharding", op.results);
    made.operands = flat(op.operands);
    made.results = flat(op.results);
    made.regions.clear();
    for (const ModuleBlock& region : op.regions) made.regions.push_back(block(region));
    out.push_back(std::move(made));
  }

  void together(const ModuleOp& op, std::vector<ModuleOp>& out) {
    ModuleOp made = op;
    made.operands = flat(op.operands);
    made.results = flat(op.results);
    for (ModuleBlock& region : made.regions) region = real_region(region);
    out.push_back(std::move(made));
  }

  // The region of a reduction on parts.
  ModuleBlock real_region(const ModuleBlock& given) {
    std::map<ValueNumber, ValueNumber> now;
    const auto part = [&](ValueNumber v) {
      const ModuleValue value = f_.values[v];
      const auto [at, added] = now.emplace(v, 0);
      if (added) at->second = add_value(value.name, part_of(value.type), value.span);
      return at->second;
    };
    ModuleBlock out;
    for (const ValueNumber v : given.arguments) out.arguments.push_back(part(v));
    for (ModuleOp op : given.ops) {
      for (ValueNumber& v : op.operands) v = part(v);
      for (ValueNumber& v : op.results) v = part(v);
      out.ops.push_back(std::move(op));
    }
    return out;
  }

  static bool adds(const ModuleOp& op) {
    if (const Attr* applied = op.find("applies")) return applied->text == "stablehlo.add";
    return op.regions.size() == 1 &&
           std::all_of(op.regions[0].ops.begin(), op.regions[0].ops.end(), [](const ModuleOp& o) {
             return o.name == "stablehlo.add" || o.name.ends_with(".return");
           });
  }

  void twice(const ModuleOp& op, std::vector<ModuleOp>& out) {
    for (const bool imaginary : {false, true}) {
      ModuleOp made = op;
      const auto part = [&](ValueNumber v) {
        if (!complex(v)) return real_of(v);
        return imaginary ? parts(v).im : parts(v).re;
      };
      std::transform(op.operands.begin(), op.operands.end(), made.operands.begin(), part);
      std::transform(op.results.begin(), op.results.end(), made.results.begin(), part);
      for (ModuleBlock& region : made.regions) region = real_region(region);
      out.push_back(std::move(made));
    }
  }

  // ---- arithmetic

  // Operations on parts, for one operation of the module.
  struct Builder : OpBuilder {
    Builder(ModuleFunction& f, std::vector<ModuleOp>& out, const ModuleOp& from)
        : OpBuilder(f, out, from.span, "part") {}
  };

  void become(ValueNumber result, Pair pair) { pairs_.insert_or_assign(result, pair); }
  void become(ValueNumber result, ValueNumber real) { same_.insert_or_assign(result, real); }

  // The halves of a complex constant, whose data has a last dimension of 2.
  std::optional<Pair> constants(Builder& b, const ModuleOp& op) {
    const Attr* value = op.find("value");
    if (value == nullptr || !value->literal || !value->literal->data) return std::nullopt;
    const Literal& both = *value->literal;
    Literal half;
    half.type = part_of(both.type);
    half.splat = both.splat;
    ValueNumber made[2];
    for (int64_t part = 0; part < 2; ++part) {
      half.data = Tensor::zeros(both.data->dtype, both.splat ? Extents{} : half.type.dims);
      for (int64_t i = 0; i < half.data->element_count(); ++i)
        half.data->set_double(i, both.data->get_double(2 * i + part));
      made[part] = b.constant(half);
    }
    return Pair{made[0], made[1]};
  }

  std::optional<Pair> arithmetic(Builder& b, const ModuleOp& op) {
    const std::string_view name = op.name;
    if (name == "stablehlo.constant") return constants(b, op);
    if (op.operands.empty()) return std::nullopt;
    const ValueNumber first = op.operands.front();
    if (name == "stablehlo.complex" && op.operands.size() == 2)
      return Pair{real_of(first), real_of(op.operands[1])};
    if (!complex(first)) {
      if (name == "stablehlo.fft") return transform(b, op);
      if (name != "stablehlo.convert") return std::nullopt;
      const ModuleType type = part_of(f_.type(op.results.front()));
      ValueNumber re = real_of(first);
      if (f_.type(first).element != type.element) re = b.op("stablehlo.convert", {re}, type);
      return Pair{re, b.all_equal(0, type)};
    }
    const Pair x = parts(first);
    if (op.operands.size() == 1) {
      return name == "stablehlo.fft" ? transform(b, op) : complex_function(b, name, x);
    }
    if (op.operands.size() != 2 || !complex(op.operands[1])) return std::nullopt;
    const Pair y = parts(op.operands[1]);
    if (name == "stablehlo.dot_general") {
      const ModuleType type = part_of(f_.type(op.results.front()));
      const auto dot = [&](ValueNumber l, ValueNumber r) {
        return b.op(name, {l, r}, type, op.attributes);
      };
      return Pair{b.sub(dot(x.re, y.re), dot(x.im, y.im)), b.add(dot(x.re, y.im), dot(x.im, y.re))};
    }
    return complex_function(b, name, x, y);
  }

  // Real results of complex operands.
  std::optional<ValueNumber> real_result(Builder& b, const ModuleOp& op) {
    const ValueNumber first = op.operands.front();
    const std::string_view name = op.name;
    if (name == "stablehlo.real" || name == "stablehlo.imag") {
      if (complex(first)) return name == "stablehlo.real" ? parts(first).re : parts(first).im;
      return name == "stablehlo.real" ? real_of(first) : b.all_equal(0, f_.type(first));
    }
    if (!complex(first)) return std::nullopt;
    const Pair x = parts(first);
    if (name == "stablehlo.abs") return size_of(b, x);
    if (name == "stablehlo.convert") return b.op(name, {x.re}, f_.type(op.results.front()));
    if (name == "stablehlo.fft") {
      const auto both = transform(b, op);
      return both ? std::optional(both->re) : std::nullopt;
    }
    if (name != "stablehlo.compare" || op.operands.size() != 2) return std::nullopt;
    std::string_view direction = op.word("comparison_direction");
    if (direction.empty()) direction = op.word("word");
    if (direction != "EQ" && direction != "NE") return std::nullopt;
    const Pair y = parts(op.operands[1]);
    const ModuleType type = f_.type(op.results.front());
    const ValueNumber re = b.op(name, {x.re, y.re}, type, op.attributes);
    const ValueNumber im = b.op(name, {x.im, y.im}, type, op.attributes);
    return b.op(direction == "EQ" ? "stablehlo.and" : "stablehlo.or", {re, im}, type);
  }

  // Products with the matrices of a Fourier transform, one dimension after another. The imaginary
  // part of a real result is not computed.
  std::optional<Pair> transform(Builder& b, const ModuleOp& op) {
    const auto plan = fourier_steps(op, f_.type(op.operands.front()).dims);
    if (!plan) return std::nullopt;
    const bool is_real = !complex(op.operands.front());
    const ModuleType given = f_.type(op.operands.front());
    const std::string element = is_real ? given.element : part_of(given).element;
    if (element != "f32" && element != "f64") return std::nullopt;
    Pair now = is_real ? Pair{real_of(op.operands.front()), 0} : parts(op.operands.front());
    bool has_imaginary = !is_real;
    ModuleType type = tensor_type(element, given.dims);
    for (const FourierStep& step : *plan) {
      const ValueNumber cosines = b.constant(fourier_matrix(step, element, false));
      const ValueNumber sines = b.constant(fourier_matrix(step, element, true));
      type.dims[step.dim] = step.to;
      const auto product = [&](ValueNumber x, ValueNumber matrix) {
        return contracted_with(b, x, matrix, step.dim, type);
      };
      // (re + i im)(cos + i sin)
      const ValueNumber re = product(now.re, cosines);
      if (!has_imaginary) {
        now = {re, product(now.re, sines)};
      } else {
        const ValueNumber real = b.sub(re, product(now.im, sines));
        now = {real,
               step.gives_real ? real : b.add(product(now.re, sines), product(now.im, cosines))};
      }
      has_imaginary = true;
    }
    return now;
  }

  // Contracts dimension `dim` of x with the first one of a matrix; the second one takes its place.
  static ValueNumber contracted_with(Builder& b, ValueNumber x, ValueNumber matrix, size_t dim,
                                     const ModuleType& result) {
    const auto lists = [](std::vector<int64_t> left, std::vector<int64_t> right) {
      Attr out;
      out.kind = Attr::Kind::kList;
      out.items = {Attr::of_ints(left), Attr::of_ints(right)};
      return out;
    };
    ModuleType made = result;
    made.dims.erase(made.dims.begin() + static_cast<int64_t>(dim));
    made.dims.push_back(result.dims[dim]);
    const ValueNumber product =
        b.op("stablehlo.dot_general", {x, matrix}, made,
             {{"batching_dims", lists({}, {})},
              {"contracting_dims", lists({static_cast<int64_t>(dim)}, {0})}});
    if (dim + 1 == result.dims.size()) return product;
    std::vector<int64_t> order;
    for (size_t d = 0; d + 1 < result.dims.size(); ++d) order.push_back(static_cast<int64_t>(d));
    order.insert(order.begin() + static_cast<int64_t>(dim),
                 static_cast<int64_t>(result.dims.size()) - 1);
    return b.op("stablehlo.transpose", {product}, result, {{"permutation", Attr::of_ints(order)}});
  }

  void operation(const ModuleOp& op, std::vector<ModuleOp>& out) {
    const auto is = [&](ValueNumber v) { return complex(v); };
    const bool takes = std::any_of(op.operands.begin(), op.operands.end(), is);
    const bool gives = std::any_of(op.results.begin(), op.results.end(), is);
    if (contains(kPartByPart, op.name) || (!takes && !gives)) return pass(op, out);
    const bool both = takes && gives;
    const bool shards = op.name == "stablehlo.custom_call" && op.find("mhlo.sharding") != nullptr;
    if (both &&
        (shards || contains(kLinear, op.name) || (contains(kReducing, op.name) && adds(op))))
      return twice(op, out);
    if (both && (contains(kMoving, op.name) || (contains(kMovingSums, op.name) && adds(op))))
      return together(op, out);
    Builder b(f_, out, op);
    if (op.results.size() == 1) {
      if (gives) {
        if (const auto pair = arithmetic(b, op)) return become(op.results.front(), *pair);
      } else if (const auto real = real_result(b, op)) {
        return become(op.results.front(), *real);
      }
    }
    ModuleOp unknown = op;
    unknown.regions.clear();
    unknown.name += " of complex numbers";
    pass(unknown, out);
  }

  ModuleFunction& f_;
  std::map<ValueNumber, Pair> pairs_;
  std::map<ValueNumber, ValueNumber> same_;  // real values that are a part of another value
};

}  // namespace

void split_complex(Module& module, const std::string& entry, ImportReport& report) {
  for (ModuleFunction& f : module.functions) {
    const auto has = [](const ModuleValue& value) { return is_complex(value.type); };
    if (std::none_of(f.values.begin(), f.values.end(), has)) continue;
    std::string pairs;
    ComplexPorts places;
    for (size_t p = 0; p < f.params.size(); ++p) {
      if (!is_complex(f.params[p].type)) continue;
      pairs += fmt::format(" parameter {},", p);
      places.params.push_back(p + places.params.size());
    }
    for (size_t r = 0; r < f.results.size(); ++r) {
      if (!is_complex(f.results[r].type)) continue;
      pairs += fmt::format(" result {},", r);
      places.results.push_back(r + places.results.size());
    }
    if (f.name == entry) report.complex = std::move(places);
    if (f.name == entry && !pairs.empty()) {
      pairs.pop_back();
      report.notes.push_back({Severity::kNote,
                              "import_complex",
                              "complex numbers are pairs of real ones: two tensors instead of" +
                                  pairs + " of @" + f.name,
                              {},
                              {}});
    }
    Splitter(f).run();
  }
}

}  // namespace hostir::importer
