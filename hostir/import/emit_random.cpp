// Random bits: Philox 4x32 with 10 rounds, which XLA uses on CPU and GPU.

#include "hostir/import/formula.h"

namespace hostir::importer {

namespace {

using Sizes = std::vector<int64_t>;

constexpr int kRounds = 10;
constexpr int64_t kMostRandomElements = int64_t{1} << 40;
constexpr uint64_t kMultipliers[] = {0xD2511F53, 0xCD9E8D57};
constexpr uint64_t kKeySteps[] = {0x9E3779B9, 0xBB67AE85};

// A 64-bit number as two of 32 bits.
struct Words {
  Known low, high;
};

Words words_of(Formula& f, const Known& x) {
  return {f.cast(x, "ui32"), f.cast(f.shifted_right(x, 32), "ui32")};
}

// Four words for each of `count` counters, from the scalars `key`, `low` and `high`.
std::vector<Known> philox(Formula& f, Emitter& e, const Known& key, const Known& low,
                          const Known& high, const Known& steps) {
  const Sizes dims = steps.type.dims;
  const auto wide = [&](const Known& x) { return f.broadcast(x, {}, dims); };
  const Known first = f.add(wide(low), steps);
  const Known carried = f.add(high, e.integer(1, high.type));
  const Known second = f.select(f.compare(first, wide(low), "lt"), wide(carried), wide(high));
  const auto [c0, c1] = words_of(f, first);
  const auto [c2, c3] = words_of(f, second);
  std::vector<Known> c = {c0, c1, c2, c3};
  Words keys = words_of(f, key);
  const auto product = [&](const Known& x, uint64_t by) {
    const Known all = f.cast(x, "ui64");
    return words_of(f, f.mul(all, e.integer(static_cast<int64_t>(by), all.type)));
  };
  const auto next_key = [&](const Known& k, uint64_t step) {
    return f.add(k, e.integer(static_cast<int64_t>(step), k.type));
  };
  for (int round = 0; round < kRounds; ++round) {
    const Words a = product(c[0], kMultipliers[0]);
    const Words b = product(c[2], kMultipliers[1]);
    c = {f.bit_xor(f.bit_xor(b.high, c[1]), wide(keys.low)), b.low,
         f.bit_xor(f.bit_xor(a.high, c[3]), wide(keys.high)), a.low};
    keys = {next_key(keys.low, kKeySteps[0]), next_key(keys.high, kKeySteps[1])};
  }
  return c;
}

// The state is the key, then a counter of 64 or 128 bits. A short counter's upper half is the key.
Expected<void> emit_rng_bit_generator(const OpSite& s) {
  Emitter& e = s.emitter;
  const ModuleType& state = s.in(0).type;
  std::string algorithm(s.op.word("algorithm"));
  if (algorithm.empty()) algorithm = s.op.word("rng_algorithm");
  const bool is_philox = algorithm.empty() || algorithm == "DEFAULT" || algorithm == "PHILOX" ||
                         algorithm == "rng_default" || algorithm == "rng_philox";
  const bool good_state = state.element == "ui64" && state.dims.size() == 1 &&
                          (state.dims[0] == 2 || state.dims[0] == 3);
  if (s.op.results.size() != 2) return s.fail("import_c2", "gives a state and bits");
  const ModuleType& bits = s.result_type(1);
  const bool is_wide = bits.element == "ui64";
  const int64_t elements = bits.element_count();
  if (!is_philox || !good_state || (!is_wide && bits.element != "ui32") || elements < 0 ||
      elements > kMostRandomElements)
    return e.opaque(
        s, "algorithm " + (algorithm.empty() ? "DEFAULT" : algorithm) + " with " +
               state.to_string() + " for " + bits.to_string() +
               "; only Philox with a state of 2 or 3 ui64 and bits of ui32 or ui64 is known");
  if (elements == 0) {
    HOSTIR_TRY(s.set(e.integer(0, bits), 1));
    return s.set(s.in(0));
  }
  const int64_t each = is_wide ? 2 : 4;
  const int64_t count = (elements + each - 1) / each;
  Formula f(e, tensor_type("ui64", {}));
  const auto part = [&](int64_t i) -> Expected<Known> {
    HOSTIR_ASSIGN_OR_RETURN(const Known one, e.sliced(s.in(0), {i}, {i + 1}, {1}));
    return e.reshaped(one, {});
  };
  HOSTIR_ASSIGN_OR_RETURN(const Known key, part(0));
  HOSTIR_ASSIGN_OR_RETURN(const Known low, part(1));
  HOSTIR_ASSIGN_OR_RETURN(const Known high, part(state.dims[0] == 3 ? 2 : 0));
  const ModuleType row = tensor_type("ui64", {count});
  Attributes along;
  along.set("dim", int64_t{0});
  HOSTIR_ASSIGN_OR_RETURN(const Known steps, e.apply(OpKind::iota, {}, std::move(along), &row));
  std::vector<Known> words = philox(f, e, key, low, high, steps);
  if (is_wide) {
    const auto joined = [&](size_t i) {
      const Known upper = f.cast(words[i + 1], "ui64");
      return f.bit_or(f.cast(words[i], "ui64"),
                      f.op(OpKind::shift_left, upper, e.integer(32, upper.type)));
    };
    words = {joined(0), joined(2)};
  }
  std::vector<Known> columns;
  for (const Known& word : words) {
    HOSTIR_ASSIGN_OR_RETURN(Known column, e.reshaped(word, {count, 1}));
    columns.push_back(std::move(column));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known table, e.concatenated(std::move(columns), 1));
  HOSTIR_ASSIGN_OR_RETURN(const Known flat, e.reshaped(table, {count * each}));
  HOSTIR_ASSIGN_OR_RETURN(const Known used, e.sliced(flat, {0}, {elements}, {1}));
  HOSTIR_ASSIGN_OR_RETURN(Known out, e.reshaped(used, bits.dims));
  HOSTIR_TRY(f.give(s, std::move(out), 1));
  const Known after = f.add(low, e.integer(count, low.type));
  std::vector<Known> next = {key, after};
  if (state.dims[0] == 3) {
    const Known carried = f.add(high, e.integer(1, high.type));
    next.push_back(f.select(f.compare(after, low, "lt"), carried, high));
  }
  for (Known& x : next) {
    HOSTIR_ASSIGN_OR_RETURN(x, e.reshaped(x, {1}));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known new_state, e.concatenated(std::move(next), 0));
  return f.give(s, std::move(new_state));
}

// Threefry 2x32 with 20 rounds, JAX's default generator, where JAX calls a kernel for it: two words
// of a key and two of a counter give two words.
Expected<void> emit_threefry(const OpSite& s) {
  if (s.count() < 4 || s.op.results.size() != 2 || s.in(0).type.element != "ui32")
    return s.emitter.opaque(s, "threefry in an unknown form");
  for (size_t i = 1; i < 4; ++i) {
    if (s.in(i).type != s.in(0).type)
      return s.fail("import_c2", "needs keys and counters of one type");
  }
  static constexpr int64_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Formula f(s);
  const Known parity = f.bit_xor(f.bit_xor(s.in(0), s.in(1)), f.integer(int64_t{0x1BD11BDA}));
  const Known keys[3] = {s.in(0), s.in(1), parity};
  Known a = f.add(s.in(2), keys[0]);
  Known b = f.add(s.in(3), keys[1]);
  for (size_t group = 0; group < 5; ++group) {
    for (const int64_t by : kRotations[group % 2]) {
      a = f.add(a, b);
      const Known up = f.op(OpKind::shift_left, b, f.integer(by));
      b = f.bit_xor(f.bit_or(up, f.shifted_right(b, 32 - by)), a);
    }
    a = f.add(a, keys[(group + 1) % 3]);
    b = f.add(f.add(b, keys[(group + 2) % 3]), f.integer(static_cast<int64_t>(group) + 1));
  }
  HOSTIR_TRY(f.give(s, std::move(a)));
  return f.give(s, std::move(b), 1);
}

constexpr HandlerRow kRandomRows[] = {
    {"stablehlo.rng_bit_generator", emit_rng_bit_generator},
    {"hostir.threefry2x32", emit_threefry, 4},  // named by custom calls only
};

}  // namespace

std::span<const HandlerRow> random_handlers() { return kRandomRows; }

}  // namespace hostir::importer
