// How an instruction computes one element that it writes.
//
// For a launch: the ops of its kernel in order, the part of each operand that the element needs,
// and the numbers. For a collective: the members' contributions, the order in which they are
// combined, and the phases of the meeting. Plain values for both the terminal and the GUI; numbers
// are formatted text. Numbers that cannot be determined (an operand has since been overwritten) are
// empty, and `notes` gives the reason: nothing is invented.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/core/ids.h"

namespace hostir::interp {

struct Snapshot;

inline constexpr CodeIndex kAtRank = 0xffffffffu;

struct InsideQuery {
  Rank rank = 0;
  CodeIndex code = kAtRank;      // an instruction; kAtRank: the rank's next one
  std::string value;             // a value it writes, without '%'; empty: the first
  std::vector<int64_t> element;  // global index; empty: the first that the rank holds
  friend bool operator==(const InsideQuery&, const InsideQuery&) = default;
};

/// An input: an element, or a part of a tensor.
struct InsideOperand {
  std::string value;  // without '%'; of the host function if `of_host`, else of the kernel
  bool of_host = false;
  Rank rank = kNoRank;
  std::vector<int64_t> element;  // the element, or the first one of the part
  std::string place;             // `[2, 17]`, `[2, 0:64]`
  int64_t count = 1;             // elements of the part
  std::string number;            // `0.25`, or `-3 .. 4.5` for a part; empty: unknown
  bool not_finite = false;       // contains NaN or Inf
};

/// One term of a sum, product, minimum or maximum.
struct InsideTerm {
  int64_t number = 0;  // k
  std::vector<InsideOperand> operands;
  std::string text;  // the term; for products of elements, the product
};
/// The sum of terms `first` to `last` - 1 in f64, in order.
struct InsideBlock {
  int64_t first = 0;
  int64_t last = 0;
  std::string sum;
};
struct InsideTerms {
  int64_t count = 0;
  bool products = false;                 // terms are products of elements of two operands
  std::vector<InsideTerm> largest;       // by magnitude, at most 5
  std::vector<InsideBlock> blocks;       // partial sums, at most 8
  std::optional<InsideTerm> not_finite;  // the first term that is NaN or Inf
};

struct InsideStep {
  std::string op;      // mnemonic
  std::string text;    // the kernel's instruction
  InsideOperand made;  // the part of the result that the element needs
  std::vector<InsideOperand> reads;
  std::optional<InsideTerms> terms;
};

/// A contribution, in the order in which contributions are combined.
struct InsideAddend {
  InsideOperand source;
  std::string running;   // accumulator after it; empty if nothing is combined
  std::string rounding;  // rounding error of the sum so far; empty: exact, or not a sum
};

struct InsideMember {
  Rank rank = kNoRank;
  std::string state;  // "not arrived", "queued", "arrived", "running", "done"
  std::string text;   // a sentence: its position, and the task ahead of it in the queue
  int64_t in_bytes = 0;
  int64_t out_bytes = 0;
};

struct InsideFact {
  std::string name;
  std::string text;
};

struct Inside {
  enum class Kind : uint8_t { kNothing, kLaunch, kCollective } kind = Kind::kNothing;
  Rank rank = 0;
  CodeIndex code = 0;
  std::string address;              // `@f#9`
  std::string text;                 // the host instruction
  std::string value;                // the requested value, without '%'
  std::vector<std::string> values;  // all that the instruction writes
  std::vector<int64_t> element;
  std::string moment;                 // one sentence: are these numbers past or predicted
  std::string number;                 // value of the element, by the steps below; empty: unknown
  std::string held;                   // buffer contents after it ran; empty: it has not run
  Tensor result;                      // `number` as a tensor: one element, or empty
  bool ran_whole = true;              // `number` is bitwise equal to what the instruction writes
  bool provisional = false;           // its inputs may still change before it runs
  std::vector<std::string> notes;     // sentences
  std::vector<InsideStep> steps;      // kLaunch
  std::vector<InsideAddend> addends;  // kCollective
  std::string how;                    // kCollective: "sum in group order", "moved"
  std::vector<InsideMember> members;
  std::vector<InsideFact> facts;  // time and bytes
};

/// Formatted for the terminal; ends with a newline.
std::string inside_text(const Inside& inside);

}  // namespace hostir::interp
