//! Small documents of every kind, for the tests of several commands.

pub(crate) const TABLE: &str = r#"{"version":3,
 "source":{"org":"acme","pipeline":"ci","build":12,"commit":"c0de","recorded_at":"2030-01-01T00:00:00Z"},
 "names":["_Z9demoScalePfi","demo_triton_add","_ZN36_INTERNAL_1920f1a6_4_a_cu_6840010b3addEPf"],
 "rows":{
  "demo-kernels":{"jobs":2,"passed":true,"complete":true,"processes":3,"dropped":0,
   "shards":{"expected":2,"seen":2},"kernels":[0,1],"backend":"cuda","trace_complete":true,
   "recording_available":true,"health":{"clean":3}},
  "demo-killed":{"jobs":1,"passed":false,"complete":true,"processes":1,"dropped":0,
   "shards":{"expected":null,"seen":0},"kernels":[2],"backend":"cuda","trace_complete":false,
   "recording_available":true,"health":{"no_footer":1},"reasons":["not-passed","no-footer"]},
  "demo-broken":{"kernels":[1,"x"]}},
 "stats":{}}"#;

/// The same build a day later: another hash of the same kernel, one new kernel, one row healed, one gone.
pub(crate) const LATER_TABLE: &str = r#"{"version":3,
 "source":{"org":"acme","pipeline":"ci","build":13,"commit":"beef","recorded_at":"2030-01-02T00:00:00Z"},
 "names":["_Z9demoScalePfi","demo_triton_mul","_ZN36_INTERNAL_a58b5648_4_a_cu_0f32c6d13addEPf"],
 "rows":{
  "demo-kernels":{"jobs":2,"passed":true,"complete":false,"processes":3,"dropped":0,
   "shards":{"expected":2,"seen":1},"kernels":[0,1],"backend":"cuda","trace_complete":true,
   "recording_available":true},
  "demo-killed":{"jobs":1,"passed":true,"complete":true,"processes":1,"dropped":0,
   "shards":{"expected":null,"seen":0},"kernels":[2],"backend":"cuda","trace_complete":true,
   "recording_available":true},
  "demo-new":{"jobs":1,"passed":true,"complete":true,"processes":1,"dropped":0,
   "shards":{"expected":null,"seen":0},"kernels":[],"backend":"cuda","trace_complete":true,
   "recording_available":true}},
 "stats":{}}"#;

pub(crate) const MAP: &str = r#"{"version":2,"backend":"rocm","commit":"c0de",
 "generated_at":"2030-01-01T00:00:00+00:00","incomplete":false,"errors":[{"error":"one warning"}],
 "build_dirs":["build"],"tools":{},"hipify_manifests":[],
 "objects":[{"source":"csrc/demo.cu","target":"_C","object":"demo.hip.o","device":true,
  "symbols":["_Z9demoScalePfi"],"deps":["csrc/demo.cu","csrc/demo.h"]}]}"#;

pub(crate) const RECORDING: &str =
    "# kernrec v1 backend=cuda recorder=cupti pid=310 ppid=301 exe=/opt/py
_Z9demoScalePfi
demo_triton_add
# end records=52 unique=2 dropped=0 errors=0 unresolved=0
";

pub(crate) const SIDECAR: &str = r#"{"step_key":"demo-kernels","label":"Demo\nof two lines","job_id":"j-1",
 "build":"12","commit":"c0de","parallel_job":"0","parallel_job_count":"2","exit_status":0,"host":"n1",
 "backend":"cuda","recorder":"cupti","collection_available":true,"collection_error":null,
 "retry_count":"x"}"#;

pub(crate) const JOBS: &str = r#"[{"id":"j-1","state":"passed","step_key":"demo-kernels"},
 {"id":"j-2","state":"failed","step_key":"demo-killed"},{"id":"j-3","state":"passed"}]"#;

pub(crate) const POINTER: &str = r#"{"schema":"kernrec.pointer/1","pipeline":"ci","backend":"cuda",
 "generation":2,"current":{"manifest":"b3:0000000000000000000000000000000000000000000000000000000000000001",
 "commit":"beef","build":13,"published_at":"2030-01-02T00:00:00Z"},
 "nonce":"00000000000000000000000000000002","history":[{"record":{
 "manifest":"b3:0000000000000000000000000000000000000000000000000000000000000000",
 "commit":"c0de","build":12,"published_at":"2030-01-01T00:00:00Z"},"revoked":"2030-01-03T00:00:00Z"}]}"#;

pub(crate) const MANIFEST: &str = r#"{"schema":"kernrec.record/1","pipeline":"ci","backend":"cuda",
 "commit":"c0de","build":12,"recorded_at":"2030-01-01T00:00:00Z","files":{
 "symbol_map":{"digest":"b3:0000000000000000000000000000000000000000000000000000000000000001","size":1234,
  "media_type":"application/json"},
 "table":{"digest":"b3:0000000000000000000000000000000000000000000000000000000000000002","size":56,
  "media_type":"application/json"}},
 "counts":{"rows":3,"usable_rows":1,"kernels":3,"objects":1,"symbols":1,"joined":1},
 "bundles":[{"digest":"b3:0000000000000000000000000000000000000000000000000000000000000003","size":10240}],
 "producer":{"name":"kernrec","version":"0.1.0"}}"#;

pub(crate) const UPSTREAM_POINTER: &str = r#"{"commit":"c0de","build":"12","pipeline":"ci",
 "published_at":"2030-01-01T00:00:00Z","files":["kernel_symbol_map.json.gz","kernel_table.json.gz"]}"#;
