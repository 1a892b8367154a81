// Random bits: Philox 4x32 with 10 rounds, which XLA uses on CPU and GPU by default, and Threefry
// 2x32 with 20.

#include <algorithm>

#include "hostir/import/emit/formula.h"

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
  const auto wide = [&, &formula = f](const Known& x) { return formula.broadcast(x, {}, dims); };
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

// Encrypts a counter of two words with a key of two words.
Words threefry(Formula& f, Emitter& e, const Words& key, const Words& counter) {
  static constexpr int64_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const auto number = [&](int64_t n) { return e.integer(n, key.low.type); };
  const Known parity = f.bit_xor(f.bit_xor(key.low, key.high), number(0x1BD11BDA));
  const Known keys[3] = {key.low, key.high, parity};
  Known a = f.add(counter.low, keys[0]);
  Known b = f.add(counter.high, keys[1]);
  for (size_t group = 0; group < 5; ++group) {
    for (const int64_t by : kRotations[group % 2]) {
      a = f.add(a, b);
      const Known up = f.op(OpKind::shift_left, b, number(by));
      b = f.bit_xor(f.bit_or(up, f.shifted_right(b, 32 - by)), a);
    }
    a = f.add(a, keys[(group + 1) % 3]);
    b = f.add(f.add(b, keys[(group + 2) % 3]), number(static_cast<int64_t>(group) + 1));
  }
  return {a, b};
}

Known joined(Formula& f, Emitter& e, const Known& low, const Known& high) {
  const Known upper = f.cast(high, "ui64");
  return f.bit_or(f.cast(low, "ui64"), f.op(OpKind::shift_left, upper, e.integer(32, upper.type)));
}

// What both generators need: the state as scalars, the shape of the words, and the results.
struct Generator {
  const OpSite& s;
  Emitter& e;
  Formula& f;
  std::vector<Known> state;
  ModuleType words;  // the result's shape; ui32 for bits narrower than 32
  bool is_wide = false;

  // Bits narrower than a word are its lower ones.
  Expected<void> give(Known bits, std::vector<Known> next) {
    HOSTIR_TRY(f.give(s, f.cast(bits, s.result_type(1).element), 1));
    for (Known& x : next) {
      HOSTIR_ASSIGN_OR_RETURN(x, e.reshaped(x, {1}));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known state_after, e.concatenated(std::move(next), 0));
    return f.give(s, std::move(state_after));
  }
};

// The state is the key, then a counter of 64 or 128 bits. A short counter's upper half is the key.
Expected<void> give_philox(Generator& g) {
  auto& [s, e, f, state, out, is_wide] = g;
  const Known& key = state[0];
  const Known& low = state[1];
  const Known& high = state.size() == 3 ? state[2] : key;
  const int64_t elements = out.element_count();
  const int64_t each = is_wide ? 2 : 4;
  const int64_t count = (elements + each - 1) / each;
  const ModuleType row = tensor_type("ui64", {count});
  Attributes along;
  along.set("dim", int64_t{0});
  HOSTIR_ASSIGN_OR_RETURN(const Known steps, e.apply(OpKind::iota, {}, std::move(along), &row));
  std::vector<Known> words = philox(f, e, key, low, high, steps);
  if (is_wide) words = {joined(f, e, words[0], words[1]), joined(f, e, words[2], words[3])};
  std::vector<Known> columns;
  for (const Known& word : words) {
    HOSTIR_ASSIGN_OR_RETURN(Known column, e.reshaped(word, {count, 1}));
    columns.push_back(std::move(column));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known table, e.concatenated(std::move(columns), 1));
  HOSTIR_ASSIGN_OR_RETURN(const Known flat, e.reshaped(table, {count * each}));
  HOSTIR_ASSIGN_OR_RETURN(const Known used, e.sliced(flat, {0}, {elements}, {1}));
  HOSTIR_ASSIGN_OR_RETURN(Known bits, e.reshaped(used, out.dims));
  const Known after = f.add(low, e.integer(count, low.type));
  std::vector<Known> next = {key, after};
  if (state.size() == 3) {
    const Known carried = f.add(high, e.integer(1, high.type));
    next.push_back(f.select(f.compare(after, low, "lt"), carried, high));
  }
  return g.give(std::move(bits), std::move(next));
}

// The state is the key and a counter. A counter gives one number of 64 bits, or two of fewer bits.
// The two follow each other along the first dimension of even size, or else along the longest.
Expected<void> give_threefry(Generator& g) {
  auto& [s, e, f, state, out, is_wide] = g;
  Sizes dims = out.dims;
  const bool is_scalar = dims.empty();
  if (is_scalar) dims = {1};
  const auto is_even = [](int64_t n) { return n % 2 == 0; };
  auto split = std::find_if(dims.begin(), dims.end(), is_even);
  if (split == dims.end()) split = std::max_element(dims.begin(), dims.end());
  const auto d = static_cast<size_t>(split - dims.begin());
  if (!is_wide) *split = (*split + 1) / 2;
  int64_t count = 1;
  for (const int64_t n : dims) count *= n;
  Attributes along;
  along.set("dim", int64_t{0});
  const ModuleType row = tensor_type("ui64", {count});
  HOSTIR_ASSIGN_OR_RETURN(const Known steps, e.apply(OpKind::iota, {}, std::move(along), &row));
  HOSTIR_ASSIGN_OR_RETURN(const Known places, e.reshaped(steps, dims));
  const auto wide = [&, &formula = f](const Known& x) { return formula.broadcast(x, {}, dims); };
  const Words key = words_of(f, state[0]);
  const Words made =
      threefry(f, e, {wide(key.low), wide(key.high)}, words_of(f, f.add(wide(state[1]), places)));
  std::vector<Known> next = {state[0], f.add(state[1], e.integer(count, state[1].type))};
  if (is_wide || is_scalar) {
    const Known all = is_wide ? joined(f, e, made.low, made.high) : made.low;
    HOSTIR_ASSIGN_OR_RETURN(Known bits, e.reshaped(all, out.dims));
    return g.give(std::move(bits), std::move(next));
  }
  Sizes apart = dims;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
  HOSTIR_ASSIGN_OR_RETURN(Known first, e.reshaped(made.low, apart));
  HOSTIR_ASSIGN_OR_RETURN(Known second, e.reshaped(made.high, std::move(apart)));
  HOSTIR_ASSIGN_OR_RETURN(const Known pairs,
                          e.concatenated({std::move(first), std::move(second)}, d + 1));
  dims[d] *= 2;
  HOSTIR_ASSIGN_OR_RETURN(const Known flat, e.reshaped(pairs, dims));
  HOSTIR_ASSIGN_OR_RETURN(Known bits,
                          e.sliced(flat, Sizes(dims.size(), 0), out.dims, Sizes(dims.size(), 1)));
  return g.give(std::move(bits), std::move(next));
}

Expected<void> emit_rng_bit_generator(const OpSite& s) {
  Emitter& e = s.emitter;
  const ModuleType& state = s.in(0).type;
  std::string algorithm(s.op.word("algorithm"));
  if (algorithm.empty()) algorithm = s.op.word("rng_algorithm");
  const bool is_threefry = algorithm == "THREE_FRY" || algorithm == "rng_three_fry";
  const bool is_philox = algorithm.empty() || algorithm == "DEFAULT" || algorithm == "PHILOX" ||
                         algorithm == "rng_default" || algorithm == "rng_philox";
  const bool good_state = state.element == "ui64" && state.dims.size() == 1 &&
                          (state.dims[0] == 2 || (state.dims[0] == 3 && is_philox));
  if (s.op.results.size() != 2) return s.fail("import_c2", "gives a state and bits");
  const ModuleType& bits = s.result_type(1);
  const int64_t elements = bits.element_count();
  const bool good_bits = bits.element == "ui64" || bits.element == "ui32" ||
                         bits.element == "ui16" || bits.element == "ui8";
  if (!(is_philox || is_threefry) || !good_state || !good_bits || elements < 0 ||
      elements > kMostRandomElements)
    return e.opaque(
        s, "algorithm " + (algorithm.empty() ? "DEFAULT" : algorithm) + " with " +
               state.to_string() + " for " + bits.to_string() +
               "; known are Philox with a state of 2 or 3 ui64, Threefry with one of 2, and bits "
               "of ui8 to ui64");
  if (elements == 0) {
    HOSTIR_TRY(s.set(e.integer(0, bits), 1));
    return s.set(s.in(0));
  }
  Formula f(e, tensor_type("ui64", {}));
  const bool is_wide = bits.element == "ui64";
  Generator g{s, e, f, {}, tensor_type(is_wide ? "ui64" : "ui32", bits.dims), is_wide};
  for (int64_t i = 0; i < state.dims[0]; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(const Known one, e.sliced(s.in(0), {i}, {i + 1}, {1}));
    HOSTIR_ASSIGN_OR_RETURN(Known scalar, e.reshaped(one, {}));
    g.state.push_back(std::move(scalar));
  }
  return is_philox ? give_philox(g) : give_threefry(g);
}

// JAX's default generator, where JAX calls a kernel for it.
Expected<void> emit_threefry(const OpSite& s) {
  if (s.count() < 4 || s.op.results.size() != 2 || s.in(0).type.element != "ui32")
    return s.emitter.opaque(s, "threefry in an unknown form");
  for (size_t i = 1; i < 4; ++i) {
    if (s.in(i).type != s.in(0).type)
      return s.fail("import_c2", "needs keys and counters of one type");
  }
  Formula f(s);
  Words made = threefry(f, s.emitter, {s.in(0), s.in(1)}, {s.in(2), s.in(3)});
  HOSTIR_TRY(f.give(s, std::move(made.low)));
  return f.give(s, std::move(made.high), 1);
}

constexpr HandlerRow kRandomRows[] = {
    {"stablehlo.rng_bit_generator", emit_rng_bit_generator},
    {"hostir.threefry2x32", emit_threefry, 4},  // named by custom calls only
};

}  // namespace

std::span<const HandlerRow> random_handlers() { return kRandomRows; }

}  // namespace hostir::importer
