// Orders. class Commented {}
package shop.orders;

import java.util.*;
import java.util.function.Function;

@Deprecated
public abstract class Order<T extends Comparable<T>> implements Comparable<Order<T>> {
    /* void inComment() {} */
    private static final String TEXT = "class InString { void no() {} }";
    private final Map<String, List<T>> items = new HashMap<>();
    protected int count, total = 0;
    int[] sizes, grid[];
    public static final Function<Integer, Integer> TWICE = n -> n * 2;

    static {
        int inInitializer = 1;
    }

    public Order() {
        this(0);
    }

    @SuppressWarnings("unchecked")
    protected <U> Order(int count, U... rest) {
        this.count = count;
    }

    public abstract double price();

    @Override
    public int compareTo(Order<T> other) {
        int local = 1;
        class Local {
            int n;
            void run() {}
        }
        Runnable anonymous = new Runnable() {
            int inner;
            @Override
            public void run() {}
        };
        Function<Integer, Integer> lambda = n -> n + 1;
        return local;
    }

    public static <K, V> Map<K, V> merge(
            Map<K, V> one,
            Map<K, V> other) throws IllegalStateException {
        for (int i = 0; i < 2; i++) {}
        return one;
    }

    static class Line {
        String name;
    }

    class Inner {}

    native int measure();

    private final Runnable task = new Runnable() {
        public void run() {}
    };
}

enum Status {
    OPEN,
    PAID("paid") {
        @Override
        boolean isFinal() { return true; }
    },
    CLOSED;

    private final String label;

    Status() { this("none"); }

    Status(String label) { this.label = label; }

    boolean isFinal() { return false; }
}

interface Shape {
    double PI = 3.14;

    double area();

    default String describe() { return """
        class InTextBlock {}
        """; }

    static Shape unit() { return () -> 1.0; }
}

record Point<T>(int x, int y) implements Shape {
    static int made = 0;

    Point {
        made++;
    }

    Point(int x) { this(x, 0); }

    public double area() { return 0; }
}

@interface Audit {
    String value() default "";

    int level() default 1;
}

sealed interface Tree permits Leaf {}

final class Leaf implements Tree {}
