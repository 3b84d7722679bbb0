//! The stable form of kernel names: content hashes blanked, nothing else touched.

use kernrec_schemas::id::stable_form;

#[track_caller]
fn same_in_two_builds(one: &str, other: &str) {
    assert_ne!(one, other);
    assert_eq!(stable_form(one), stable_form(other));
    assert_eq!(stable_form(one).len(), one.len());
}

#[test]
fn internal_linkage_components_compare_equal_across_builds() {
    same_in_two_builds(
        "_Z10k_get_rowsILi32ELi2EXadL_ZN41_INTERNAL_815fa39e_10_getrows_cu_f63e7a9315dequantize_q5_0EPKvliR6float2EE6__halfEvS2_",
        "_Z10k_get_rowsILi32ELi2EXadL_ZN41_INTERNAL_00000000_10_getrows_cu_deadbeef15dequantize_q5_0EPKvliR6float2EE6__halfEvS2_",
    );
    same_in_two_builds(
        "_ZN2at6native50_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8f30GammaBetaBackwardCUDAKernel",
        "_ZN2at6native50_GLOBAL__N__aaaaaaaa_20_layer_norm_kernel_cu_bbbbbbbb30GammaBetaBackwardCUDAKernel",
    );
    same_in_two_builds(
        "__nv_static_25__a58b5648_4_t_cu_0f32c6d1__Z13static_kernelPf",
        "__nv_static_25__ffffffff_4_t_cu_12345678__Z13static_kernelPf",
    );
}

#[test]
fn only_the_two_hashes_are_blanked() {
    assert_eq!(
        stable_form("41_INTERNAL_815fa39e_10_getrows_cu_f63e7a9315dequantize"),
        "41_INTERNAL_xxxxxxxx_10_getrows_cu_xxxxxxxx15dequantize"
    );
    assert_eq!(
        stable_form("__nv_static_25__a58b5648_4_t_cu_0f32c6d1__Z3fooPf"),
        "__nv_static_25__xxxxxxxx_4_t_cu_xxxxxxxx__Z3fooPf"
    );
}

#[test]
fn several_components_are_all_blanked() {
    let name = "_ZN41_INTERNAL_815fa39e_10_getrows_cu_f63e7a93EEN36_GLOBAL__N__d8ceb000_6_abc_cu_0c5b6e11E";
    let stable = "_ZN41_INTERNAL_xxxxxxxx_10_getrows_cu_xxxxxxxxEEN36_GLOBAL__N__xxxxxxxx_6_abc_cu_xxxxxxxxE";
    assert_eq!(stable_form(name), stable);
}

#[test]
fn the_stable_form_is_its_own_stable_form() {
    let once = stable_form("41_INTERNAL_815fa39e_10_getrows_cu_f63e7a93").into_owned();
    assert_eq!(stable_form(&once), once);
}

#[test]
fn names_that_only_look_similar_are_left_alone() {
    let names = [
        "_Z9demoScalePfi",
        "_ZN12_GLOBAL__N_16kernelEv",
        "41_INTERNAL_815fa39e_10_getrows_cu_f63e7a9",
        "41_INTERNAL_815fa39_10_getrows_cu_f63e7a93",
        "41_INTERNAL_815FA39E_10_getrows_cu_f63e7a93",
        "41_INTERNAL_815fa39e_11_getrows_cu_f63e7a93",
        "41_INTERNAL_815fa39e_99999999999999999999_getrows_cu_f63e7a93",
        "41_INTERNAL_815fa39e_18446744073709551615_getrows_cu_f63e7a93",
        "41_INTERNAL_815fa39e__getrows_cu_f63e7a93",
        "_INTERNAL_",
        "__nv_static_",
        "__nv_static_25_a58b5648_4_t_cu_0f32c6d1",
        "__nv_static___a58b5648_4_t_cu_0f32c6d1",
        "",
    ];
    for name in names {
        assert_eq!(stable_form(name), name);
    }
}

#[test]
fn different_files_and_functions_stay_different() {
    let stable = |name| stable_form(name).into_owned();
    assert_ne!(
        stable("__nv_static_25__a58b5648_4_t_cu_0f32c6d1__Z3fooPf"),
        stable("__nv_static_25__a58b5648_4_u_cu_0f32c6d1__Z3fooPf")
    );
    assert_ne!(
        stable("__nv_static_25__a58b5648_4_t_cu_0f32c6d1__Z3fooPf"),
        stable("__nv_static_25__a58b5648_4_t_cu_0f32c6d1__Z3barPf")
    );
}

#[test]
fn bytes_beyond_ascii_are_no_obstacle() {
    assert_eq!(
        stable_form("é41_INTERNAL_815fa39e_2_é_f63e7a93é"),
        "é41_INTERNAL_xxxxxxxx_2_é_xxxxxxxxé"
    );
    // The stated length ends inside a character.
    let name = "41_INTERNAL_815fa39e_1_é_f63e7a93";
    assert_eq!(stable_form(name), name);
}
