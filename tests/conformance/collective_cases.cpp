// Every collective: reductions, dtypes, cuts, groups, in place and out of place. Each configuration
// gives two cases: `collective_...` (it runs, whatever the data) and `values_...` (the data).
#include <fmt/core.h>

#include <algorithm>

#include "cases.h"
#include "collective_model.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

// The groups that meet, and their notation in the text.
struct Grouping {
  const char* name;
  int64_t ranks;
  const char* comm;
  std::vector<std::vector<int64_t>> groups;
};

const std::vector<Grouping>& groupings() {
  static const std::vector<Grouping> kAll = {
      {"all", 4, "over {r}", {{0, 1, 2, 3}}},
      {"alone", 1, "over {r}", {{0}}},
      {"three", 3, "over {r}", {{0, 1, 2}}},
      {"backwards", 4, "groups [[3, 2, 1, 0]]", {{3, 2, 1, 0}}},
      {"halves", 4, "groups [[0, 1], [2, 3]]", {{0, 1}, {2, 3}}},
      {"strided", 4, "groups [[0, 2], [1, 3]]", {{0, 2}, {1, 3}}},
      {"some", 4, "groups [[1, 2]]", {{1, 2}}},
  };
  return kAll;
}

struct Setting {
  CollectiveModel model;
  Grouping grouping;
  int64_t rows = 4;  // of every buffer
  DType dtype = DType::kF32;
};

bool is_rooted(const std::string& op) {
  return op == "broadcast" || op == "reduce" || op == "gather" || op == "scatter";
}
bool is_reduction(const std::string& op) {
  return op == "all_reduce" || op == "reduce" || op == "reduce_scatter";
}
bool is_block_in(const std::string& op) { return op == "all_gather" || op == "gather"; }
bool is_block_out(const std::string& op) { return op == "reduce_scatter" || op == "scatter"; }

size_t member_count(const Grouping& grouping) { return grouping.groups.front().size(); }

// True for uneven blocks. Only a buffer with a layout can have a different size on each rank, so
// these cases have a third buffer `%b`, which holds the blocks of x or of y.
bool is_uneven(const Setting& s) {
  const auto members = static_cast<int64_t>(member_count(s.grouping));
  return (is_block_in(s.model.op) || is_block_out(s.model.op)) && s.rows % members != 0;
}

// Members other than the root use `ro(none)` or `wo(none)`.
bool reads_at_root_only(const std::string& op) { return op == "scatter" || op == "broadcast"; }
bool writes_at_root_only(const std::string& op) { return op == "reduce" || op == "gather"; }

// Small numbers that are exact in every dtype and under every reduction of at most four of them.
double number(const Setting& s, int64_t rank, int64_t i, int64_t salt) {
  const int64_t v = (rank * 7 + i * 3 + salt) % 5;
  if (s.dtype == DType::kI1) return static_cast<double>(v % 2);
  if (s.model.reduction == Reduction::kProd) return static_cast<double>(1 + v % 2);
  if (s.model.reduction == Reduction::kAvg) return static_cast<double>(12 * (v % 3));
  return static_cast<double>(is_unsigned(s.dtype) ? v : v - 2);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

bool is_counted(const Setting& s) { return s.model.op == "all_to_all" && s.rows % 3 == 0; }

// The rows that a position sends to each member. The table is symmetric, so it receives the same.
std::string count_texts(const Setting& s, size_t position) {
  std::vector<std::string> parts;
  for (const int64_t rows : s.model.sent_rows[position]) parts.push_back(fmt::format("{}", rows));
  return joined(parts);
}

std::string attributes(const Setting& s, size_t position) {
  const CollectiveModel& m = s.model;
  std::string text = m.op;
  if (is_reduction(m.op)) text += fmt::format(" {}", name(m.reduction));
  text += " %c";
  if (is_rooted(m.op)) text += fmt::format(" root({})", m.root);
  if (!m.pairs.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [a, b] : m.pairs) pairs.push_back(fmt::format("[{}, {}]", a, b));
    text += " pairs [" + joined(pairs) + "]";
  }
  if (is_counted(s)) {
    const std::string counts = count_texts(s, position);
    text += fmt::format(" counts({0}) receives({0})", counts);
  }
  return text;
}

// The instruction for one position, independent of the others.
std::string instruction(const Setting& s, size_t position) {
  const CollectiveModel& m = s.model;
  const bool is_root = position == static_cast<size_t>(m.root);
  const bool whole = !is_block_in(m.op) && !is_block_out(m.op) && !is_counted(s);
  const std::string text = attributes(s, position);
  if (m.in_place && whole && m.op != "reduce") return text + " rw(%in) on %s\n";
  const std::string in =
      is_block_in(m.op) || is_counted(s) ? is_uneven(s) ? "%b" : "%block" : "%in";
  const std::string out = is_block_out(m.op) || is_counted(s) ? is_uneven(s) ? "%b" : "%part"
                          : m.in_place                        ? "%in"
                                                              : "%out";
  const bool reads = is_root || !reads_at_root_only(m.op);
  const bool writes = is_root || !writes_at_root_only(m.op);
  return text + fmt::format(" ro({}) wo({}) on %s\n", reads ? in : "none", writes ? out : "none");
}

// The views of the position's block, if the op moves blocks.
std::string views(const Setting& s, size_t position) {
  if (is_uneven(s)) return {};
  const Rows rows = block_of(s.rows, static_cast<int64_t>(member_count(s.grouping)),
                             static_cast<int64_t>(position));
  const char* base = s.model.in_place ? "%in" : "%out";
  if (is_block_in(s.model.op)) {
    return fmt::format("%block = subview %in[{}:{}, :]\n", rows.lo, rows.hi);
  }
  if (is_block_out(s.model.op)) {
    return fmt::format("%part = subview {}[{}:{}, :]\n", base, rows.lo, rows.hi);
  }
  if (!is_counted(s)) return {};
  int64_t total = 0;
  for (const int64_t count : s.model.sent_rows[position]) total += count;
  return fmt::format("%block = subview %in[0:{0}, :]\n%part = subview %out[0:{0}, :]\n", total);
}

// A single text if all positions have the same instruction, else one per position, because sizes
// cannot depend on the rank.
std::string body(const Setting& s) {
  const Grouping& grouping = s.grouping;
  const size_t members = member_count(grouping);
  std::vector<std::string> texts;
  for (size_t position = 0; position < members; ++position) {
    texts.push_back(views(s, position) + instruction(s, position));
  }
  const bool everybody = members * grouping.groups.size() == static_cast<size_t>(grouping.ranks);
  if (everybody && std::all_of(texts.begin(), texts.end(),
                               [&](const std::string& text) { return text == texts.front(); })) {
    return texts.front();
  }
  std::string out;
  for (const auto& group : grouping.groups) {
    for (size_t position = 0; position < members; ++position) {
      out += fmt::format("where rank == {} {{\n{}}}\n", group[position], texts[position]);
    }
  }
  return out;
}

std::string program(const Setting& s) {
  const std::string shard = fmt::format("shard<{}x{}x{}x{}, @m, [{{r}}, {{}}, {{}}]>",
                                        s.grouping.ranks, s.rows, kColumns, name(s.dtype));
  const std::string mine = fmt::format("tensor<{}x{}x{}>", s.rows, kColumns, name(s.dtype));
  const std::string cut =
      fmt::format("shard<{}x{}x{}, @m, [{{r}}, {{}}]>", s.rows, kColumns, name(s.dtype));
  const std::string b = is_uneven(s) ? ", inout %b: " + cut : "";
  const std::string b_out = is_uneven(s) ? ", %b: " + cut : "";
  return fmt::format(
      "mesh @m = <r={}>\n"
      "host @f on @m (inout %x: {}, inout %y: {}{}) -> (%x: {}, %y: {}{}) {{\n"
      "%c = comm {}\n%s = stream \"main\"\n"
      "%in = reinterpret %x : {}\n%out = reinterpret %y : {}\n{}return %x, %y{}\n}}\n",
      s.grouping.ranks, shard, shard, b, shard, shard, b_out, s.grouping.comm, mine, mine, body(s),
      is_uneven(s) ? ", %b" : "");
}

std::vector<RankBuffers> initial(const Setting& s) {
  std::vector<RankBuffers> out(static_cast<size_t>(s.grouping.ranks));
  for (size_t r = 0; r < out.size(); ++r) {
    for (int64_t i = 0; i < s.rows * kColumns; ++i) {
      out[r].x.push_back(number(s, static_cast<int64_t>(r), i, 0));
      out[r].y.push_back(number(s, static_cast<int64_t>(r), i, 3));
    }
  }
  return out;
}

std::vector<RankBuffers> expected(const Setting& s) {
  std::vector<RankBuffers> out = initial(s);
  for (const auto& group : s.grouping.groups) {
    std::vector<RankBuffers*> members;
    for (const int64_t rank : group) members.push_back(&out[static_cast<size_t>(rank)]);
    apply(s.model, s.rows, std::move(members));
  }
  return out;
}

// A rank's block of x or y, whichever the op reads or writes as blocks.
Numbers block(const Setting& s, const std::vector<RankBuffers>& buffers, size_t rank) {
  const Rows rows = block_of(s.rows, s.grouping.ranks, static_cast<int64_t>(rank));
  const Numbers& from = is_block_in(s.model.op) ? buffers[rank].x : buffers[rank].y;
  return {from.begin() + rows.lo * kColumns, from.begin() + rows.hi * kColumns};
}

Tensor tensor_of(const Setting& s, Extents extents, const Numbers& numbers) {
  Tensor out = Tensor::zeros(s.dtype, std::move(extents));
  for (size_t i = 0; i < numbers.size(); ++i) out.set_double(static_cast<int64_t>(i), numbers[i]);
  return out;
}

std::vector<Tensor> inputs(const Setting& s) {
  const std::vector<RankBuffers> buffers = initial(s);
  Numbers x;
  Numbers y;
  Numbers b;
  for (size_t rank = 0; rank < buffers.size(); ++rank) {
    x.insert(x.end(), buffers[rank].x.begin(), buffers[rank].x.end());
    y.insert(y.end(), buffers[rank].y.begin(), buffers[rank].y.end());
    const Numbers mine = block(s, buffers, rank);
    b.insert(b.end(), mine.begin(), mine.end());
  }
  const Extents all = {s.grouping.ranks, s.rows, kColumns};
  std::vector<Tensor> out = {tensor_of(s, all, x), tensor_of(s, all, y)};
  if (is_uneven(s)) out.push_back(tensor_of(s, {s.rows, kColumns}, b));
  return out;
}

void expect_numbers(const Trial& trial, Rank rank, size_t result, const Numbers& wanted) {
  const Tensor got = trial.result(rank, result);
  ASSERT_EQ(got.element_count(), static_cast<int64_t>(wanted.size()));
  Tensor rounded = Tensor::zeros(got.dtype, {});  // an average may need more bits than 8
  for (size_t i = 0; i < wanted.size(); ++i) {
    rounded.set_double(0, wanted[i]);
    EXPECT_EQ(got.get_double(static_cast<int64_t>(i)), rounded.get_double(0))
        << "rank " << rank << " result " << result << " element " << i;
  }
}

void compare(const Setting& s, const Trial& trial) {
  const std::vector<RankBuffers> before = initial(s);
  const std::vector<RankBuffers> wanted = expected(s);
  const bool y_is_cut = is_uneven(s) && is_block_out(s.model.op);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto rank = static_cast<Rank>(i);
    expect_numbers(trial, rank, 0, wanted[i].x);
    expect_numbers(trial, rank, 1, y_is_cut ? before[i].y : wanted[i].y);
    if (is_uneven(s)) expect_numbers(trial, rank, 2, block(s, wanted, i));
  }
}

void add(CaseList& cases, const std::string& what, const Setting& s) {
  const auto trial = [s](const BackendUnderTest& backend) {
    return run(backend, program(s), inputs(s));
  };
  cases.push_back({"collective_" + what, [trial](const BackendUnderTest& backend) {
                     EXPECT_NE(trial(backend), nullptr);
                   }});
  if (s.rows == 0) return;
  cases.push_back({"values_" + what, [trial, s](const BackendUnderTest& backend) {
                     if (const auto ran = trial(backend)) compare(s, *ran);
                   }});
}

const std::vector<std::string>& ops() {
  static const std::vector<std::string> kOps = {"all_reduce", "reduce",  "broadcast",
                                                "all_gather", "gather",  "reduce_scatter",
                                                "scatter",    "permute", "all_to_all"};
  return kOps;
}

// Each member except the last sends to the next; a single member sends to itself.
std::vector<std::pair<int, int>> chain(int64_t members) {
  std::vector<std::pair<int, int>> out;
  for (int i = 0; i + 1 < static_cast<int>(members); ++i) out.emplace_back(i, i + 1);
  if (out.empty()) out.emplace_back(0, 0);
  return out;
}

Setting setting(const std::string& op, const Grouping& grouping, int64_t rows) {
  Setting s;
  s.model.op = op;
  s.grouping = grouping;
  s.rows = rows;
  const auto members = static_cast<int64_t>(member_count(grouping));
  s.model.root = static_cast<int32_t>(members - 1);
  if (op == "permute") s.model.pairs = chain(members);
  if (op != "all_to_all") return s;
  const bool counted = rows % 3 == 0;
  for (int64_t from = 0; from < members; ++from) {
    std::vector<int64_t>& to = s.model.sent_rows.emplace_back();
    for (int64_t i = 0; i < members; ++i) to.push_back(counted ? (from + i) % 3 : rows / members);
  }
  return s;
}

void add_cuts_and_groups(CaseList& cases) {
  for (const std::string& op : ops()) {
    for (const Grouping& grouping : groupings()) {
      const auto members = static_cast<int64_t>(member_count(grouping));
      std::vector<int64_t> all_rows = {4 * members, members + 1, 1,
                                       0};  // even, uneven, fewer than members, none
      if (op == "all_to_all") all_rows = {2 * members, 9};  // equal blocks, then counts
      if (op == "all_to_all" && members == 3) all_rows = {9};
      for (const int64_t rows : all_rows) {
        Setting s = setting(op, grouping, rows);
        if (op == "all_to_all" && rows % 3 == 0 && rows != 9) continue;
        const bool has_axis =
            static_cast<int64_t>(members) == grouping.ranks && *grouping.comm == 'o';
        if (is_uneven(s) && !has_axis) continue;
        const std::string what = fmt::format("{}_{}_{}rows", op, grouping.name, rows);
        add(cases, what, s);
        s.model.in_place = true;
        if (op != "all_to_all" && !is_uneven(s)) add(cases, what + "_in_place", s);
      }
    }
  }
}

void add_dtypes(CaseList& cases) {
  for (const std::string& op : ops()) {
    for (const DType dtype : kAllDTypes) {
      if (is_reduction(op)) continue;
      Setting s = setting(op, groupings().front(), 8);
      s.dtype = dtype;
      add(cases, fmt::format("{}_{}", op, name(dtype)), s);
    }
  }
}

void add_reductions(CaseList& cases) {
  for (const std::string& op : ops()) {
    for (const DType dtype : kAllDTypes) {
      for (const Reduction reduction :
           {Reduction::kSum, Reduction::kAvg, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
        if (!is_reduction(op) || dtype == DType::kI1) continue;  // the parser rejects i1
        Setting s = setting(op, groupings().front(), 5);
        s.dtype = dtype;
        s.model.reduction = reduction;
        add(cases, fmt::format("{}_{}_{}", op, name(reduction), name(dtype)), s);
      }
    }
  }
}

}  // namespace

void add_collective_cases(CaseList& cases) {
  add_cuts_and_groups(cases);
  add_dtypes(cases);
  add_reductions(cases);
}

}  // namespace hostir::conformance
