/// \file
/// A table of every kind of record that the tools and the probe exchange. A test compares the
/// documentation with it.
#pragma once

#include "Protocol/CaptureRecords.h"
#include "Protocol/CountRecords.h"
#include "Protocol/PlanRecords.h"
#include "Protocol/TraceRecords.h"

#include <string>
#include <vector>

namespace carve {

/// A list of kinds of records.
template <class... Record> struct RecordList {
  /// Calls \p Do with an empty record of each kind.
  template <class F> static void each(F Do) { (Do(Record()), ...); }
};

using AllRecords = RecordList<
    // What a traced process writes.
    ProcessRecord, DeviceInfo, ContainerRecord, SwappedRecord, UnswappedRecord, ModuleRecord,
    KernelLaunches, SpanRecord, QueryRecord, GraphRecord, StayingGraph, AttributeRecord,
    ArgumentRecord, ShapeArgumentRecord, PointerRecord, AliasRecord, TracedClass, TypicalLaunches,
    TracedSegment, HazardRecord, DroppedRecord, AsideRecord, EndRecord,
    // What it writes in a run with a plan.
    ReplayedLaunch, VerifiedVariant, TimedSample, RotatedSample, StoodBackKernel, VariantFault,
    // What it writes in a run with counters.
    CountedVariable, UncountedRecord, MetricsRecord, NoMetricRecord, CountedMetric,
    UnmeasuredRecord,
    // What the tools ask of the probe.
    SeedRecord, ReplayLimitRecord, HangLimitRecord, KernelRecord, VariantRecord, GuardRecord,
    GuardedShape, GuardedPointer, PlannedShape, LaunchesToReplay, PlannedClass, PlannedSegment,
    ExcludeRecord, MeasureRecord, CompareRecord, ConstantRecord, PassRecord, MetricRecord,
    CountWish, DirectoryRecord, CaptureWish,
    // What the probe writes about a captured launch.
    RawKernel, RawAttribute, RawParameter, RawRange, RawVariable, RawAfter, RawContainer, RawEnd>;

/// Visits the fields of a record and keeps their names.
class FieldNames {
public:
  template <class... Rest> void text(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void name(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void number(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void decimal(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void flag(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void either(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void word(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void triple(const char *Field, const Rest &...) { add(Field); }
  template <class... Rest> void rest(const char *Field, const Rest &...) { add(Field); }
  void shape(const LaunchShape &) { add("SHAPE"); }

  std::vector<std::string> Names;

private:
  void add(const char *Field) { Names.emplace_back(Field); }
};

/// Returns the names of the fields of \p Record, in the order of its line.
template <class T> std::vector<std::string> fieldNames(const T &Record) {
  FieldNames Fields;
  T::fields(Record, Fields);
  return std::move(Fields.Names);
}

} // namespace carve
