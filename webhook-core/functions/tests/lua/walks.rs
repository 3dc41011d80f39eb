//! Walking over tables while they are changed, as Lua allows it.

use crate::harness::output;

#[tokio::test]
async fn assigning_to_fields_that_are_there_disturbs_no_walk() {
    // Each table has its keys in an order of its own, and some are full.
    let script = r#"
        for size = 1, 70 do
          for round = 1, 8 do
            local t, seen, count = {}, {}, 0
            for i = 1, size do t["k" .. i] = i end
            for key, value in pairs(t) do
              assert(not seen[key], "twice")
              seen[key], count = true, count + 1
              t[key] = -value
            end
            assert(count == size, size .. " keys, " .. count .. " seen")
            for i = 1, size do assert(t["k" .. i] == -i) end
          end
        end
        print("all seen")
    "#;
    assert_eq!(output(script).await, ["all seen"]);
}

#[tokio::test]
async fn removing_fields_disturbs_no_walk() {
    let script = r#"
        for size = 1, 70 do
          local t, count = {}, 0
          for i = 1, size do t["k" .. i] = i end
          for key, value in pairs(t) do
            count = count + 1
            if value % 2 == 0 then t[key] = nil else t[key] = "odd" end
          end
          assert(count == size, size .. " keys, " .. count .. " seen")
          for i = 1, size do assert(t["k" .. i] == (i % 2 == 1 and "odd" or nil)) end
        end
        print("all seen")
    "#;
    assert_eq!(output(script).await, ["all seen"]);
}

#[tokio::test]
async fn a_new_key_is_not_taken_for_a_removed_one() {
    // A new text often gets the memory of a text that was a key before.
    let script = r#"
        for round = 1, 150 do
          local t = {}
          for i = 1, 12 do t["k" .. i] = i end
          for i = 1, 12, 2 do
            t["k" .. i] = nil
            for j = i + 1, 12 do assert(t["k" .. j] == j, "k" .. j .. " of round " .. round) end
          end
        end
        print("all found")
    "#;
    assert_eq!(output(script).await, ["all found"]);
}
