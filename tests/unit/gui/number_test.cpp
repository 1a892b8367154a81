// Numbers are shortened or left out where they do not fit, never cut: "6.61e+1" for 6.61e+11 reads
// as another number.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "gui/panels/values/tensor_pick.h"
#include "gui/panels/values/value_text.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

// Numbers of twelve characters in more columns than a narrow panel has room for.
std::string wide_program(int columns) {
  const std::string type = "tensor<9x" + std::to_string(columns) + "xf32>";
  return write_file("wide" + std::to_string(columns) + ".hir",
                    "fusion @wide(%a: " + type + ") -> (%y: " + type +
                        ") {\n  %k = constant {value = -6.60795e11} : " + type +
                        "\n  %y = mul %a, %k\n  return %y\n}\n");
}

double shown_number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

Tensor numbers(std::initializer_list<float> values) {
  Tensor t = Tensor::zeros(DType::kF32, {static_cast<int64_t>(values.size())});
  int64_t i = 0;
  for (const float v : values) t.set_double(i++, v);
  return t;
}

TEST(Numbers, AShorterTextIsARoundedNumberNeverAPrefix) {
  Workbench w("");
  w->step();
  const ImFont* font = w->app().ui().fonts.mono;
  const Tensor t = numbers({-6.60795e11F, 1.5F, 123456.0F, 3.40282e-38F, -0.000123F});
  for (int64_t i = 0; i < t.element_count(); ++i) {
    const double v = t.get_double(i);
    for (float width = 0; width < 120; width += 4) {
      for (const ValueFormat format :
           {ValueFormat::kDecimal, ValueFormat::kFixed, ValueFormat::kScientific}) {
        const std::string text = fitting_value(t, i, format, font, width);
        if (text.empty()) continue;
        EXPECT_LE(font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x, width);
        if (format == ValueFormat::kFixed && std::abs(v) < 1) continue;  // 0.0000 by its format
        EXPECT_NEAR(shown_number(text) / v, 1, 0.51) << text << " for " << v;
      }
    }
  }
  EXPECT_EQ(fitting_value(t, 0, ValueFormat::kDecimal, font, 1000), "-6.60795e+11");
  EXPECT_EQ(value_text(t, 0, ValueFormat::kDecimal, 3), "-6.61e11");
}

// A cell shows its number whole and inside the panel, or an ellipsis.
void expect_whole_cells(Workbench& w, int columns) {
  const WidgetRect* leaf = w->app().ui().find("leaf/values");
  ASSERT_NE(leaf, nullptr);
  const interp::ValueQuery query{"y", interp::ValueQuery::From::kGlobal, 0, {}, std::nullopt};
  const ImFont* font = w->app().ui().fonts.mono;
  int whole = 0;
  for (int i = 0; i < columns; ++i) {
    const WidgetRect* cell = w->app().ui().find("values/" + std::to_string(i));
    if (!cell || cell->text == "\u2026") continue;
    ++whole;
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, cell->text.c_str()).x;
    EXPECT_GE(cell->min.x + 1, leaf->min.x) << cell->text;
    EXPECT_LE(cell->min.x + width, leaf->max.x) << cell->text;
    EXPECT_GT(std::abs(shown_number(cell->text)), 1e8) << cell->text;
  }
  EXPECT_GE(whole, 3);
}

TEST(Numbers, ValuesShortensWhatDoesNotFit) {
  for (const auto& [width, height] : {std::pair(1600, 1000), std::pair(1280, 720)}) {
    Workbench w(wide_program(8), width, height);
    w.perform("layout.Step");
    ASSERT_TRUE(w.press("F5"));
    w.model().selection.value = "y";
    w->wait_until_idle();
    expect_whole_cells(w, 8);
  }
}

// Too many columns for any number of digits: the table scrolls, and shows whole columns only.
TEST(Numbers, ValuesScrollsByWholeColumns) {
  Workbench w(wide_program(40));
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  w->wait_until_idle();
  expect_whole_cells(w, 40);
  w.model().selection.element = {0, 20};
  w->wait_until_idle();
  expect_whole_cells(w, 40);
  EXPECT_TRUE(w.has("values/20"));
}

TEST(Numbers, RanksLeavesOutColumnsThatDoNotFit) {
  for (const int width : {900, 1000, 1280, 1600, 2400}) {
    Workbench w(kMlp, width, 900);
    w.perform("layout.Step");
    ASSERT_TRUE(w.press("F5"));
    const WidgetRect* leaf = w->app().ui().find("leaf/ranks");
    ASSERT_NE(leaf, nullptr);
    for (const char* fact : {"steps", "in flight", "clock", "memory / peak"}) {
      const WidgetRect* cell = w->app().ui().find(std::string("ranks/0/") + fact);
      if (cell) {
        EXPECT_LE(cell->max.x, leaf->max.x) << fact << " at " << width;
      }
    }
    EXPECT_EQ(w.has("ranks/0/memory / peak"), width > 1280) << width;
  }
}

// Clipped text must not end inside a number. Counts four vertices per drawn glyph.
TEST(Numbers, TextThatIsClippedEndsBeforeANumber) {
  Workbench w("");
  w->step();
  ImGui::NewFrame();
  Ui& ui = w->app().ui();
  const std::string text = "waited 123456 ns";
  const auto drawn = [&](float width) {
    ImDrawList* list = ImGui::GetForegroundDrawList();
    const int before = list->VtxBuffer.Size;
    ui.draw_text(list, ImVec2(10, 10), IM_COL32_WHITE, text, width, ui.fonts.mono);
    return (list->VtxBuffer.Size - before) / 4;
  };
  const float glyph = ui.fonts.mono->CalcTextSizeA(ui.fonts.mono->FontSize, FLT_MAX, 0, "0").x;
  for (int n = 7; n < 13; ++n)
    EXPECT_EQ(drawn(glyph * (static_cast<float>(n) + 0.5F)), 6) << n << " characters fit";
  EXPECT_EQ(drawn(glyph * 13.5F), 12);
  EXPECT_EQ(drawn(glyph * 40), 14);
  ImGui::EndFrame();
}

// Cut at its end, a name can look like that of another tensor.
TEST(Numbers, ANameThatDoesNotFitKeepsBothEnds) {
  Workbench w(kMlp);
  w->step();
  const float width = ImGui::CalcTextSize("%x_gathered").x;
  EXPECT_EQ(short_name("%x_gathered", width), "%x_gathered");
  const std::string text = short_name("%x_gathered_packed", width);
  EXPECT_TRUE(text.starts_with("%x_g")) << text;
  EXPECT_TRUE(text.ends_with("ked")) << text;
  EXPECT_TRUE(says(text, "\u2026")) << text;
  EXPECT_LE(ImGui::CalcTextSize(text.c_str()).x, width);
}

// Held down, F5 runs once: it must not leave the place where it stopped.
TEST(Numbers, RunDoesNotRepeatWhileItsKeyIsHeld) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("break launch"));
  ASSERT_TRUE(w.press("F5"));
  const uint64_t first = w.decision();
  ASSERT_TRUE(w.perform("goto start"));
  const auto hold = [&](const char* key, int frames) {
    ImGui::GetIO().KeysDown[key_code(key)] = true;
    // Not wait_until_idle(): a key that repeats keeps the window busy.
    for (int i = 0; i < frames; ++i) {
      w->step();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ImGui::GetIO().KeysDown[key_code(key)] = false;
    w->wait_until_idle();
  };
  hold("F5", 40);
  EXPECT_EQ(w.decision(), first);
  ASSERT_TRUE(w.perform("goto start"));
  hold("F10", 40);
  EXPECT_GT(w.decision(), 4u) << "a step repeats";
}

}  // namespace
}  // namespace hostir::gui
