// Orders. class Commented { }
using System;
using System.Collections.Generic;
using Money = System.Decimal;

namespace Shop.Orders
{
    public delegate void Changed<T>(object sender, T value);

    public enum Status : byte { Open, Paid = 4, [Obsolete] Closed }

    [Serializable]
    public interface IRepository<T> where T : class
    {
        int Count { get; }
        T? Find(int id);
        void Log(string text) => Console.WriteLine(text);
        event Action Saved;
    }

    public record Person(string Name, int Age)
    {
        public string Title { get; init; } = "";
    }

    public record struct Size(int Width, int Height);

    public struct Vector
    {
        public double X, Y;
        public const double Epsilon = 1e-9;
        public static Vector operator +(Vector a, Vector b) => new Vector();
        public static implicit operator double(Vector v) => v.X;
        public double this[int index] => index == 0 ? X : Y;
    }

    public abstract partial class Repository<T> : IRepository<T> where T : class, new()
    {
        private static readonly Dictionary<int, T> cache = new();
        private int size = 0, capacity = 16;
        public event EventHandler Changed;
        public event EventHandler Custom { add { } remove { } }

        public int Count => size;
        public string Name { get; set; } = "class InString { }";
        public event Action Saved;

        static Repository() { }
        public Repository(int capacity) : base() { this.capacity = capacity; }
        ~Repository() { }

        public abstract T? Find(int id);

        [Obsolete("use Find")]
        public async System.Threading.Tasks.Task<U> Load<U>(
            string path,
            params int[] ids)
        {
            var local = 1;
            const int Fixed = 2;
            int Twice(int n) { return n * 2; }
            Func<int, int> lambda = n => n + 1;
            return default;
        }

        void IDisposable.Dispose() { }
        public Repository<T> Add(T item) => this;

        private class Node<K>
        {
            internal K Key;
            internal Node<K> Next;
        }
    }

    public static class Extensions
    {
        public static int Words(this string text) => text.Split(' ').Length;
    }

    namespace Inner
    {
        class Empty;
    }
}
