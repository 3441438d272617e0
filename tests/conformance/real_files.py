"""Files that the real programs read, and the cases of the kit that are of the same rule."""

from typing import Final

SAME_RULE: Final = dict(
    line.split()
    for line in """
    bin_dup_inputs binary-inputs-replaced
    bin_empty_dense binary-dense-none
    bin_evneg_first binary-event-span-first
    bin_evout binary-event-out-of-range
    bin_little binary-little-endian
    bin_magic5 binary-magic-near
    bin_min binary-empty
    bin_name_quote binary-name-brace
    bin_nan_payload binary-dense-nan-bits
    bin_negcount binary-count-negative
    bin_nev0 binary-events-zero
    bin_numunits_neg binary-units-negative
    bin_setproc binary-set-proc
    bin_shared binary-shared
    bin_sparseflag255 binary-sparse-flag
    bin_special binary-special
    bin_special_dup binary-special-twice
    bin_special_out binary-special-out-of-range
    bin_trailing binary-trailing
    bin_trunc_header binary-magic-only
    bin_trunc_string binary-cut-string
    bin_trunc_vals binary-cut-values
    bin_utf8_name binary-name-utf-8
    dn_dash_brace dense-dash-before-brace
    dn_dash_first dense-first-dash
    dn_dash_paren dense-dash-before-parenthesis
    dn_dash_semi numbers-dash-before-semicolon
    dn_dashdash numbers-two-dashes
    dn_empty_range dense-empty-parentheses
    dn_exp_bad numbers-open-exponent
    dn_glued numbers-glued
    dn_group dense-group
    dn_group_digit dense-number-glued-to-group
    dn_group_quoted dense-quoted-group
    dn_group_twice dense-group-twice
    dn_linebreaks dense-lines
    dn_nan_word dense-nan-word
    dn_neg_first dense-negative-first
    dn_plus numbers-plus
    dn_prec numbers-nearest
    dn_real_first dense-first-real
    dn_second_plain dense-first-not-carried
    dn_star dense-star
    dn_to_sparse dense-then-sparse-then-dense
    dn_unclosed dense-unclosed
    dn_values numbers-forms
    dn_wrong_closer dense-wrong-closer
    ev_B_listed_T_seen sharing-both-after-targets
    ev_B_shared sharing-both
    ev_actT_of_b sharing-both-active
    ev_active_shared_actI sharing-active-of-first
    ev_comma events-comma
    ev_dup_inputs events-inputs-twice
    ev_dup_overlap events-inputs-overlap
    ev_dup_targets events-targets-twice
    ev_interleave events-interleaved
    ev_list_after_param events-number-after-field
    ev_list_params events-fields-of-listed
    ev_listed_twice_IT events-list-used-up
    ev_manual events-spans-and-numbers
    ev_missing_val events-field-missing
    ev_neg events-negative
    ev_next_after events-list-then-next
    ev_next_back events-list-back
    ev_out events-out-of-range
    ev_params_persist events-fields-accumulate
    ev_proc events-proc
    ev_range_gap events-span-blank-before
    ev_range_open events-span-open
    ev_range_out events-span-out-of-range
    ev_range_rev events-span-reversed
    ev_range_same events-span-of-one
    ev_set_act_default sharing-active-of-set
    ev_star events-list-star
    ev_star_plus events-list-star-and-number
    ev_unclosed events-unclosed
    ex_freq_nan examples-frequency-nan
    ex_freq_neg examples-frequency-negative
    ex_header_late examples-name-after-data
    ex_numevents_neg examples-count-negative
    ex_numevents_order examples-any-order
    ex_numevents_real examples-count-real
    ex_numevents_twice examples-count-twice
    ex_numevents_zero examples-count-zero
    file_3bytes strings-three-bytes
    file_blank_only header-blank-file
    file_empty strings-empty-file
    file_extra_semi examples-extra-semicolon
    file_header_only header-only
    file_no_final_semi examples-no-semicolon
    file_semis examples-semicolons
    grp_14 strings-thirteen-groups
    hdr_all header-all-fields
    hdr_bad_value header-word
    hdr_counts header-two-numbers
    hdr_counts_fields header-numbers-and-fields
    hdr_dash_glued header-glued-dash
    hdr_ends_at_name header-late-field
    hdr_hex header-hexadecimal
    hdr_missing_value header-missing-value
    hdr_nan_dash header-dash
    hdr_negcount header-negative-numbers
    hdr_numevents_eaten header-eaten-count
    hdr_numevents_eaten2 header-eaten-before-list
    hdr_numevents_semi header-protected-count
    hdr_numevents_three header-third-number
    hdr_plus header-plus
    hdr_proc header-proc
    hdr_proc_after header-proc-first
    hdr_repeat header-last-wins
    hdr_semi_mid header-field-after-semicolon
    lex_apostrophe strings-apostrophe
    lex_bare_bracket strings-word-ends-at-bracket
    lex_bare_colon strings-word-takes-colon
    lex_bare_semicolon strings-word-takes-semicolon
    lex_block_newlines strings-first-breaks
    lex_bom strings-byte-order-mark
    lex_comment_in_block comments-in-string
    lex_comment_indent comments-indented
    lex_comment_ok comments-between-values
    lex_comment_trailing comments-trailing
    lex_cr_only comments-cr
    lex_deep strings-too-deep
    lex_empty_name strings-word-empty
    lex_eof_in_block strings-end-of-file
    lex_escape strings-escape
    lex_escape_eol strings-escape-at-line-end
    lex_kw_case examples-any-case
    lex_kw_space examples-blank-before-colon
    lex_latin1 strings-latin-1
    lex_nest_bad strings-wrong-closer
    lex_nest_bad_sq strings-wrong-closer-square
    lex_noblank sparse-no-blanks
    lex_nul strings-nul
    lex_paren_name strings-parentheses
    lex_quote_brace strings-unbalanced-in-quotes
    lex_quote_in_brace strings-quote-in-braces
    lex_utf8 strings-utf-8
    lex_ws comments-blanks
    sp_actT sparse-active-target
    sp_dense_switch sparse-dense-in-sparse
    sp_dup sparse-no-order
    sp_empty sparse-empty-braces
    sp_empty_mid sparse-empty-braces-first
    sp_group_default sparse-group-takes-active
    sp_group_value sparse-group-and-value
    sp_mode_kept sparse-stays-sparse
    sp_nan sparse-nan-star
    sp_neg_after_star sparse-star-then-span
    sp_neg_first sparse-negative-first
    sp_range_chain sparse-span-chain
    sp_range_gap sparse-span-blank
    sp_range_same sparse-span-of-one
    sp_range_spaces sparse-span-blanks
    sp_range_tozero sparse-span-to-zero
    sp_real sparse-real
    sp_star sparse-star
    sp_star_group sparse-star-group
    sp_star_then sparse-star-then-unit
    sp_then_star sparse-unit-then-star
    sp_twice sparse-value-twice
    sp_value sparse-values
    sv_nan_dense numbers-dash
    sv_nan_sparse sparse-nan
    """.strip().splitlines()
)
"""The name of a file without its suffix, and of a case."""

NO_RULE: Final = {
    "lex_bom.ex": "exset skips the byte order mark, which Lens refuses",
}
"""Files that the right reader reads as Lens does, but exset does not."""

SAME_LIST: Final = dict(
    line.split()
    for line in """
    h01_plain_incl list-type-conduit-inclusion
    h03_type_trailing_words list-type-more-words
    h04_type_unknown list-type-unknown
    h05_blank_first_line list-type-blank-line
    h08_bom list-byte-order-mark
    h10_counts_wrong_totals list-totals-wrong
    h11_too_many_files list-too-few-files
    h14_basedir_with_space list-directory-cut
    h17_empty_file list-empty
    h18_two_header_lines list-two-lines
    h19_zero_files list-no-files
    h20_negative_files list-files-negative
    h21_nonnumeric_count list-number-word-and-files
    l01_multi_incl_label list-type-multi-inclusion
    l04_conduit_with_label list-label-too-many
    b01_blank_lines list-blank-lines
    b02_tabs_many_spaces list-tabs
    b04_too_few_ids list-too-few-ids
    b05_too_many_ids list-too-many-ids
    b08_dup_id_same_line list-ids-repeated
    b09_excluded_count_wrong list-excluded-any
    b11_dup_file_partial list-file-repeated-part
    b13_name_only list-name-only
    b14_comment_line list-comment-line
    b17_slash_ids list-ids-slash
    b18_unpadded_id list-ids-zeros
    b19_ellipsis_for_strings list-ids-dots
    b21_subdir list-file-subfolder
    b22_negative_included list-included-negative
    b23_float_count list-count-real
    b24_absolute_record list-file-absolute
    b26_long_order list-ids-order
    b27_same_id_two_files list-ids-same-in-files
    b28_vertical_tab_ff list-form-feed
    b29_nbsp list-no-break-space
    b30_plus_sign list-counts-plus
    b31_huge_count list-count-huge
    v01_v2_plain list-type-v2
    v02_v2_with_unused list-v2-with-excluded
    x01_excl_one list-type-conduit-exclusion
    x02_excl_none list-exclusion-none
    x03_excl_nested_ids list-exclusion-levels
    x06_excl_dup list-exclusion-repeated
    x09_excl_ids_count list-exclusion-too-few
    x11_excl_all list-exclusion-all
    s01_single list-type-single
    s02_single_no_label_line list-label-missing-single
    s03_single_extra_columns list-single-more-words
    s04_single_two_counts list-totals-single
    n01_ranges integer-range
    n07_same_end integer-range-same-end
    n10_text_id integer-text
    """.strip().splitlines()
)
"""The name of a list in the table of LBANN's verdicts, and of a case."""

SAME_MANIFEST: Final = dict(
    line.split()
    for line in """
    002_no_header manifest-no-header
    004_header_only manifest-header-only
    005_empty_file manifest-empty
    006_only_blank_and_comment manifest-comments-only
    008_header_after_record manifest-header-twice
    009_header_after_noheader_record manifest-header-late
    010_comment_before_header manifest-comment-before
    011_comment_between manifest-comment-between
    014_at_in_record manifest-at-inside
    015_at_record_start manifest-at-record
    016_type_lower manifest-type-lower-case
    017_type_unknown manifest-type-unknown
    019_type_trailing_space manifest-type-blank
    020_header_empty manifest-type-empty
    023_header_crlf manifest-header-crlf
    028_bom manifest-byte-order-mark
    030_nul_in_string manifest-nul
    031_bad_utf8 manifest-latin-1
    032_multibyte manifest-utf-8
    033_vertical_tab manifest-vertical-tab
    034_blank_line_space manifest-one-blank
    035_too_few manifest-too-few
    036_too_many manifest-too-many
    037_second_record_short manifest-too-few-second
    039_empty_field manifest-empty-first
    040_all_empty_fields manifest-empty-all
    042_spaces_kept manifest-blanks
    043_comma_not_sep manifest-comma
    046_int_lead_space manifest-int-blank-before
    049_int_neg_fraction manifest-int-negative-fraction
    051_int_hex manifest-int-hexadecimal
    052_int_octalish manifest-int-zeros
    053_int_max manifest-int-largest
    059_int_nan manifest-int-nan
    062_int_denorm manifest-element-int-range-double
    065_int_underscore manifest-int-underscore
    067_float_int manifest-float-integer
    069_float_hex manifest-float-hexadecimal
    075_float_nan manifest-float-nan
    077_float_comma manifest-float-comma
    078_float_round manifest-float-halfway
    079_b64_plain manifest-base64-plain
    080_b64_unpadded manifest-base64-unpadded
    081_b64_one_char manifest-base64-one
    082_b64_space manifest-base64-blank
    084_b64_empty manifest-base64-empty
    088_b64_pad_only manifest-base64-pad-only
    120_duplicate_records manifest-repeated
    122_many_columns manifest-many-columns
    """.strip().splitlines()
)
"""The name of a manifest in the table of aeon's verdicts, and of a case."""

SAME_PAIR: Final = dict(
    line.split()
    for line in """
    m02_unknown_field pair-field-unknown
    m03_empty_experiment pair-no-field
    m04_data_schema_narrow pair-data-may-be-narrow
    m06_inherit_child_wins pair-child-wins
    m07_experiment_overrides_leaf pair-experiment-group-wins
    m08_experiment_root_metadata pair-experiment-root
    m09_unknown_directive pair-unknown-directive
    m10_data_schema_root_metadata pair-inherit-from-root
    m12_bias_without_scale pair-bias-alone
    m14_integer_scale pair-scale-integer
    m19_coerce_float32 pair-coerce-float32
    p01_pack_no_ordering pair-pack-alone
    p07_pack_float_ordering pair-ordering-real
    p08_pack_negative_ordering pair-ordering-negative
    p10_pack_name_of_field pair-pack-name-of-field
    p13_pack_number_name pair-pack-number
    y02_duplicate_key schema-key-twice
    y03_flow_style schema-flow
    y04_value_leaf pair-value-ignored
    y05_slash_key pair-name-with-slash
    y07_exponent schema-float-exponent
    y08_exponent_dot schema-float-exponent
    y09_metadata_scalar schema-metadata-scalar
    y11_bool_hwc schema-directive-hwc
    """.strip().splitlines()
)
"""The name of a pair of schemas in the table of LBANN's verdicts, and of a case."""

SAME_CONFIG: Final = dict(
    line.split()
    for line in """
    02_seed_text_example config-old-name
    04_unknown_far config-unknown
    05_no_manifest config-no-manifest
    06_no_batch config-no-batch-size
    07_no_etl config-no-etl
    08_etl_object config-etl-object
    09_etl_empty config-etl-empty
    11_etl_bad_type config-etl-type-unknown
    12_batch_string config-batch-text
    13_batch_float config-batch-real
    15_batch_negative config-batch-negative
    16_subset_over config-subset-above
    17_subset_zero config-subset-zero
    19_mode_lower config-mode-lower-case
    20_count_no_n config-count-missing
    21_count_neg config-count-negative
    22_count_ok config-mode-count
    23_infinite config-mode-infinite
    24_bool_int config-bool-number
    25_seed_negative config-seed-negative
    26_single_thread config-single-thread
    27_cpu_list config-new-members
    28_batch_major config-new-members
    29_node config-new-members
    35_img_output_bad config-image-type
    36_img_unknown config-image-unknown
    37_img_bgr config-image-red-first
    38_img_hwc config-image-channels-last
    39_img_float_named config-image-name
    41_label_float config-label-float
    42_charmap config-char-map
    43_charmap_emit config-char-map-length
    44_charmap_dup config-char-map-twice
    46_charmap_unknown config-char-map-unknown-code
    48_bbox config-boundingbox
    49_blob config-blob
    50_blob_no_count config-blob-no-count
    51_video config-video
    52_pixelmask config-pixelmask
    53_localization config-localization
    54_localization_rcnn config-rcnn
    55_localization_ssd config-ssd
    56_audio config-audio
    57_multicrop config-etl-type-multicrop
    60_aug_object config-augmentation-object
    61_aug_no_type config-augmentation-no-type
    62_aug_unknown config-augmentation-unknown
    63_aug_scale_bad config-augmentation-above
    66_aug_other_type config-augmentation-other-type
    67_aug_one_number config-augmentation-one-number
    70_null_value config-cache-null
    71_empty config-empty-object
    72_null config-null
    """.strip().splitlines()
)
"""The name of a configuration in the table of aeon's verdicts, and of a case."""
